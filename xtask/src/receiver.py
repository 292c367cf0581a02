"""Reads what a receiver got with the standard library alone, and compares it with what was asked for,
with the bytes that the server kept, and with the fates that it tells."""

import base64
import email
import email.policy
import json
import os
import sys
import time
import urllib.request

url, key, told, maildir = sys.argv[1:5]
sent = json.load(open(told))


def get(path):
    request = urllib.request.Request(url.rstrip("/") + path, headers={"Authorization": "Bearer " + key})
    return urllib.request.urlopen(request).read()


def outbox():
    return {row["message_id"]: row for row in json.loads(get("/v1/outbox"))["data"]}


def files():
    found = []
    for name in ("new", "cur"):
        folder = os.path.join(maildir, name)
        if os.path.isdir(folder):
            found += [open(os.path.join(folder, entry), "rb").read() for entry in os.listdir(folder)]
    return found


def addresses(entries):
    return {entry if isinstance(entry, str) else entry["address"] for entry in entries}


# Whoever is refused gets nothing; all others get one copy each.
expected = {}
for mail in sent:
    asked, identifier = mail["asked"], mail["answer"]["rfc_message_id"]
    everybody = addresses(asked["to"] + asked.get("cc", []) + asked.get("bcc", []))
    expected[identifier] = {a for a in everybody if a.split("@")[0] not in ("nobody", "later")}
copies = sum(len(people) for people in expected.values())

deadline = time.time() + 60
while time.time() < deadline:
    rows = outbox()
    tried = all(rows[mail["answer"]["id"]]["attempts"] > 0 for mail in sent)
    if tried and len(files()) >= copies:
        break
    time.sleep(0.2)
else:
    sys.exit(f"{len(files())} of {copies} copies came: {json.dumps(outbox())}")

got = {}
for raw in files():
    message = email.message_from_bytes(raw, policy=email.policy.default)
    identifier = message["Message-ID"].strip("<>")
    got.setdefault(identifier, []).append((message["Delivered-To"], raw, message))

for mail in sent:
    asked, answer = mail["asked"], mail["answer"]
    received = got.pop(answer["rfc_message_id"], [])
    assert {to for to, _, _ in received} == expected[answer["rfc_message_id"]], received
    assert len(received) == len(expected[answer["rfc_message_id"]]), "a copy came twice"
    kept = get(f"/v1/identities/{answer['identity_id']}/messages/{answer['id']}/raw")
    for _, raw, message in received:
        assert raw.endswith(kept.replace(b"\r\n", b"\n")), "the bytes are not those that were kept"
        assert not message.defects, message.defects
        assert message["Subject"] == asked["subject"], message["Subject"]
        assert message["From"].addresses[0].addr_spec == answer["from"]["address"]
        shown = {a.addr_spec for name in ("To", "Cc") for a in (message[name].addresses if message[name] else ())}
        assert shown == addresses(asked["to"] + asked.get("cc", [])), shown
        assert "Bcc" not in message and b"blind@" not in raw.split(b"\n\n", 1)[1]
        hidden = addresses(asked.get("bcc", []))
        assert not hidden & shown and all(a.encode() not in kept for a in hidden), "a blind copy shows"
        if "text" in asked:
            text = message.get_body(("plain",)).get_content()
            assert text.strip() == asked["text"].strip(), text
        if "html" in asked:
            assert "<b>files</b>" in message.get_body(("html",)).get_content()
        attached = [
            (part.get_filename(), part.get_content_type(), part.get_payload(decode=True))
            for part in message.iter_attachments()
        ]
        wanted = [
            (a["filename"], a["content_type"], base64.b64decode(a["content_base64"]))
            for a in asked.get("attachments", [])
        ]
        assert attached == wanted, attached
assert not got, f"mails that nobody sent: {list(got)}"

fates = {}
for row in outbox().values():
    for delivery in row["deliveries"]:
        fates.setdefault(delivery["address"].split("@")[0], set()).add((delivery["status"], delivery["smtp_code"]))
assert fates["nobody"] == {("rejected", 554)}, fates
assert fates["later"] == {("queued", 450)}, fates
assert fates["ann"] == {("submitted", 250)} and fates["blind"] == {("submitted", 250)}, fates
print(f"got {copies} copies of {len(sent)} mails over TLS, as they were asked for")
