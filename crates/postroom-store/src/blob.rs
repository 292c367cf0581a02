//! Raw bytes, content-addressed by their SHA-256, compressed with zstd.
//!
//! Small ones go into the database in the same commit as what refers to them. On SQLite larger
//! ones become files, which are whole and synced, folder included, before the row that names them
//! is written. On PostgreSQL all go into the database, because several nodes share nothing else.

mod sweep;

pub(crate) use sweep::sweep;

use crate::{StoreError, sql::Value};
use postroom_core::{MessageDoc, RawMail, Sha256Bytes, hex};
use postroom_types::{TenantId, limit};
use std::{
    cell::RefCell,
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

/// Fast rather than small: mail is compressed in the caller's task on its way in.
const LEVEL: i32 = 1;
/// A document never unpacks to more than this: all of its texts at their limits, escaped.
const DOC_BYTES: usize = 16 * 1024 * 1024;

thread_local! {
    // Their tables are large; one of each per thread serves every mail.
    static COMPRESSOR: RefCell<Option<zstd::bulk::Compressor<'static>>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<zstd::bulk::Decompressor<'static>>> =
        const { RefCell::new(None) };
}

fn compress(bytes: &[u8]) -> io::Result<Vec<u8>> {
    COMPRESSOR.with_borrow_mut(|slot| {
        let compressor = match slot {
            Some(compressor) => compressor,
            None => slot.insert(zstd::bulk::Compressor::new(LEVEL)?),
        };
        compressor.compress(bytes)
    })
}

/// Unpacks at most `size` bytes.
fn decompress(packed: &[u8], size: usize) -> io::Result<Vec<u8>> {
    DECOMPRESSOR.with_borrow_mut(|slot| {
        let decompressor = match slot {
            Some(decompressor) => decompressor,
            None => slot.insert(zstd::bulk::Decompressor::new()?),
        };
        decompressor.decompress(packed, size)
    })
}

/// A mail's bytes as they will be kept.
#[derive(Clone)]
pub(crate) struct PackedBlob {
    sha256: Sha256Bytes,
    size: u64,
    /// `None` when they are in a file.
    inline: Option<Vec<u8>>,
}

impl PackedBlob {
    /// Bytes it holds in memory.
    pub(crate) fn weight(&self) -> usize {
        self.inline.as_ref().map_or(0, Vec::len)
    }

    /// The bytes, unless they are in a file.
    pub(crate) fn into_inline(self) -> Option<Vec<u8>> {
        self.inline
    }

    /// The row of a tenant.
    pub(crate) fn values(self, tenant: TenantId) -> [Value; 5] {
        let place = if self.inline.is_some() {
            "inline"
        } else {
            "file"
        };
        [
            tenant.bits().into(),
            self.sha256.as_slice().into(),
            self.size.into(),
            place.into(),
            Value::OptBlob(self.inline),
        ]
    }
}

/// Where large blobs are files.
#[derive(Debug, Clone)]
pub(crate) struct BlobFolder {
    root: PathBuf,
}

impl BlobFolder {
    /// Opens the folder and removes what writes that never ended have left.
    pub(crate) fn open(data_dir: &Path) -> io::Result<Self> {
        let root = data_dir.join("blobs");
        let unfinished = root.join("tmp");
        if unfinished.exists() {
            fs::remove_dir_all(&unfinished)?;
        }
        fs::create_dir_all(&unfinished)?;
        sync_folder(&root)?;
        sync_folder(data_dir)?;
        Ok(Self { root })
    }

    fn path(&self, sha256: &Sha256Bytes) -> (PathBuf, PathBuf) {
        let name = hex(sha256);
        let folder = self.root.join(name.get(..2).unwrap_or("00"));
        let path = folder.join(format!("{name}.zst"));
        (folder, path)
    }

    /// Writes a file that is whole under its name or not there at all: temporary file, sync,
    /// rename, sync of the folder.
    fn write(&self, sha256: &Sha256Bytes, bytes: &[u8]) -> io::Result<()> {
        let (folder, path) = self.path(sha256);
        if !folder.exists() {
            fs::create_dir_all(&folder)?;
            sync_folder(&self.root)?;
        }
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let unfinished = self.root.join("tmp").join(hex(&random));
        let mut file = File::create_new(&unfinished)?;
        let written = file.write_all(bytes).and_then(|()| file.sync_all());
        if let Err(error) = written {
            // The name is never looked at again; a leftover goes with the next start.
            let _removed = fs::remove_file(&unfinished);
            return Err(error);
        }
        fs::rename(&unfinished, &path)?;
        sync_folder(&folder)
    }

    fn read(&self, sha256: &Sha256Bytes) -> io::Result<Vec<u8>> {
        fs::read(self.path(sha256).1)
    }
}

pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Takes the bytes out of `raw` and makes of them what is kept.
pub(crate) fn pack(raw: &mut RawMail, folder: Option<&BlobFolder>) -> io::Result<PackedBlob> {
    let bytes = std::mem::take(&mut raw.bytes);
    let packed = compress(&bytes)?;
    let inline = match folder {
        Some(folder) if packed.len() > limit::BLOB_INLINE_BYTES => {
            folder.write(&raw.sha256, &packed)?;
            None
        }
        _ => Some(packed),
    };
    Ok(PackedBlob {
        sha256: raw.sha256,
        size: raw.size,
        inline,
    })
}

/// The very bytes again, from a row's place and bytes; the digest is checked.
pub(crate) fn unpack(
    sha256: &Sha256Bytes,
    size: u64,
    inline: Option<Vec<u8>>,
    folder: Option<&BlobFolder>,
) -> Result<Vec<u8>, StoreError> {
    use sha2::Digest as _;
    let packed = match (inline, folder) {
        (Some(bytes), _) => bytes,
        (None, Some(folder)) => folder
            .read(sha256)
            .map_err(|_| StoreError::Damaged("a blob's file"))?,
        (None, None) => return Err(StoreError::Damaged("a blob without bytes")),
    };
    let size = usize::try_from(size).map_err(|_| StoreError::Damaged("a blob's size"))?;
    let bytes = decompress(&packed, size).map_err(|_| StoreError::Damaged("a blob's bytes"))?;
    let digest: Sha256Bytes = sha2::Sha256::digest(&bytes).into();
    if bytes.len() != size || digest != *sha256 {
        return Err(StoreError::Damaged("a blob's digest"));
    }
    Ok(bytes)
}

/// A document as it is kept: its length, then JSON under zstd.
pub(crate) fn pack_doc(doc: &MessageDoc) -> io::Result<Vec<u8>> {
    let json = serde_json::to_vec(doc)?;
    let length = u32::try_from(json.len()).map_err(io::Error::other)?;
    let mut out = length.to_le_bytes().to_vec();
    out.extend(compress(&json)?);
    Ok(out)
}

pub(crate) fn unpack_doc(bytes: &[u8]) -> Result<MessageDoc, StoreError> {
    const DAMAGED: StoreError = StoreError::Damaged("a message's document");
    let (length, packed) = bytes.split_first_chunk::<4>().ok_or(DAMAGED)?;
    let length = u32::from_le_bytes(*length) as usize;
    if length > DOC_BYTES {
        return Err(DAMAGED);
    }
    let json = decompress(packed, length).map_err(|_| DAMAGED)?;
    serde_json::from_slice(&json).map_err(|_| DAMAGED)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(len: usize) -> Vec<u8> {
        let mut state: u32 = 1;
        (0..len)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 24) as u8
            })
            .collect()
    }

    fn round_trip(bytes: Vec<u8>, folder: Option<&BlobFolder>) -> bool {
        let mut raw = RawMail::new(bytes.clone());
        let packed = pack(&mut raw, folder).expect("packs");
        let in_file = packed.inline.is_none();
        let back = unpack(&packed.sha256, packed.size, packed.inline, folder).expect("unpacks");
        assert!(back == bytes);
        in_file
    }

    #[test]
    fn small_bytes_stay_inline_and_large_ones_become_files() {
        let dir = tempfile::tempdir().expect("dir");
        let folder = BlobFolder::open(dir.path()).expect("folder");
        assert!(!round_trip(Vec::new(), Some(&folder)));
        assert!(!round_trip(
            b"From: a@b.example\r\n\r\nhi".to_vec(),
            Some(&folder)
        ));
        let large = noise(limit::BLOB_INLINE_BYTES + 4096);
        assert!(round_trip(large.clone(), Some(&folder)));
        assert!(!round_trip(large, None), "without a folder all is inline");
        let left = fs::read_dir(dir.path().join("blobs/tmp"))
            .expect("tmp")
            .count();
        assert_eq!(left, 0, "no temporary file is left");
    }

    #[test]
    fn one_wrong_bit_is_noticed() {
        let mut raw = RawMail::new(noise(2_000));
        let packed = pack(&mut raw, None).expect("packs");
        let mut bytes = packed.inline.expect("inline");
        for place in [10, bytes.len() / 2, bytes.len() - 1] {
            bytes[place] ^= 1;
            assert!(unpack(&packed.sha256, packed.size, Some(bytes.clone()), None).is_err());
            bytes[place] ^= 1;
        }
    }

    #[test]
    fn a_document_reads_back() {
        let doc = MessageDoc {
            subject: Some("Grüße \u{1f4ee}".to_owned()),
            text: Some("x".repeat(100_000)),
            ..MessageDoc::default()
        };
        let packed = pack_doc(&doc).expect("packs");
        assert!(packed.len() < 2_000);
        assert_eq!(unpack_doc(&packed).expect("unpacks"), doc);
        assert!(unpack_doc(&packed[..3]).is_err());
        assert!(unpack_doc(&[255; 40]).is_err());
    }
}
