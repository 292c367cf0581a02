//! Files made on the spot: PDF, ZIP, CSV and calendar bytes that real readers open.

use std::fmt::Write as _;

use postroom_types::Timestamp;

/// A one-page PDF with lines of Latin text (PDF 1.4, uncompressed).
pub(super) fn pdf(lines: &[String]) -> Vec<u8> {
    let mut content = String::from("BT /F1 11 Tf 56 780 Td 15 TL\n");
    for line in lines {
        let escaped = line
            .replace('\\', "\\\\")
            .replace('(', "\\(")
            .replace(')', "\\)");
        let _ = writeln!(content, "({escaped}) Tj T*");
    }
    content.push_str("ET");
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>".to_owned(),
        format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    let mut out = String::from("%PDF-1.4\n");
    let mut offsets = Vec::new();
    for (place, object) in objects.iter().enumerate() {
        offsets.push(out.len());
        let _ = write!(out, "{} 0 obj\n{object}\nendobj\n", place + 1);
    }
    let xref = out.len();
    let _ = write!(out, "xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for offset in offsets {
        let _ = writeln!(out, "{offset:010} 00000 n ");
    }
    let _ = write!(
        out,
        "trailer << /Size {} /Root 1 0 R >>\nstartxref\n{xref}\n%%EOF\n",
        objects.len() + 1
    );
    out.into_bytes()
}

/// A ZIP archive of one stored file.
pub(super) fn zip(name: &str, bytes: &[u8]) -> Vec<u8> {
    let sum = crc32(bytes).to_le_bytes();
    let size = (bytes.len() as u32).to_le_bytes();
    let name_size = (name.len() as u16).to_le_bytes();
    // Version 2.0, no flags, stored, 1 January 2020 at midnight.
    let mut common = vec![20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0x50];
    common.extend(sum);
    common.extend(size);
    common.extend(size);
    common.extend(name_size);
    common.extend([0, 0]);
    let mut out = b"PK\x03\x04".to_vec();
    out.extend(&common);
    out.extend(name.as_bytes());
    out.extend(bytes);
    let directory_at = (out.len() as u32).to_le_bytes();
    let mut directory = b"PK\x01\x02\x14\x00".to_vec();
    directory.extend(&common);
    directory.extend([0; 14]);
    directory.extend(name.as_bytes());
    let directory_size = (directory.len() as u32).to_le_bytes();
    out.extend(directory);
    out.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
    out.extend(directory_size);
    out.extend(directory_at);
    out.extend([0, 0]);
    out
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut sum = u32::MAX;
    for byte in bytes {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = if sum & 1 == 1 {
                (sum >> 1) ^ 0xedb8_8320
            } else {
                sum >> 1
            };
        }
    }
    !sum
}

/// Comma-separated values with a heading.
pub(super) fn csv(heading: &str, rows: &[String]) -> Vec<u8> {
    format!("{heading}\r\n{}\r\n", rows.join("\r\n")).into_bytes()
}

/// A calendar invitation of one hour (RFC 5545).
pub(super) fn invitation(
    uid: &str,
    organizer: &str,
    summary: &str,
    place: &str,
    starts: Timestamp,
) -> Vec<u8> {
    format!(
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Demo//Calendar//EN\r\nMETHOD:REQUEST\r\nBEGIN:VEVENT\r\n\
         UID:{uid}\r\nDTSTAMP:{start}\r\nDTSTART:{start}\r\nDTEND:{end}\r\nORGANIZER:mailto:{organizer}\r\n\
         SUMMARY:{summary}\r\nLOCATION:{place}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
        start = super::dates::icalendar(starts),
        end = super::dates::icalendar(starts.plus_ms(3_600_000)),
    )
    .into_bytes()
}

/// A picture of one grey pixel (GIF89a), standing for a photograph.
pub(super) fn picture() -> Vec<u8> {
    b"GIF89a\x01\0\x01\0\x80\0\0\x80\x80\x80\xff\xff\xff,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;"
        .to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_one_everybody_computes() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }
}
