#!/usr/bin/env python3
"""Writes the vectors of every provider row, signed by code that shares nothing with the crate.

    pip install cryptography && python3 generate.py

Keys are made from fixed seeds where the algorithm allows it, and kept in `test-only.json` where it does
not; none of them is used anywhere else. The files are checked in: the tests read them and need no Python.
"""

import base64, binascii, copy, hashlib, hmac, json, pathlib, urllib.parse, zlib

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.x509.oid import NameOID
import datetime

HERE = pathlib.Path(__file__).parent
NOW = 1780000000
URL = "https://hooks.postroom.example/in/abcdefgh?tenant=a%20b"
b64 = lambda raw: base64.b64encode(raw).decode()
b64u = lambda raw: base64.urlsafe_b64encode(raw).decode().rstrip("=")
js = lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def mac(key, message, digest="sha256"):
    key = key if isinstance(key, bytes) else key.encode()
    message = message if isinstance(message, bytes) else message.encode()
    return hmac.new(key, message, digest).digest()


def rfc3339(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def keys():
    path = HERE / "test-only.json"
    if not path.exists():
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        pem = lambda k: k.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                                        serialization.NoEncryption()).decode()
        path.write_text(json.dumps({"rsa": pem(key), "other_rsa": pem(other)}, indent=1) + "\n")
    stored = json.loads(path.read_text())
    return {name: serialization.load_pem_private_key(pem.encode(), None) for name, pem in stored.items()}


KEYS = keys()


def certificate(key):
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test-only.invalid")])
    return (x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
            .serial_number(1).not_valid_before(datetime.datetime(2020, 1, 1)).not_valid_after(datetime.datetime(2040, 1, 1))
            .sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM).decode())


def public_pem(key):
    return key.public_key().public_bytes(serialization.Encoding.PEM,
                                         serialization.PublicFormat.SubjectPublicKeyInfo).decode()


CERT, OTHER_CERT = certificate(KEYS["rsa"]), certificate(KEYS["other_rsa"])
PUBLIC, OTHER_PUBLIC = public_pem(KEYS["rsa"]), public_pem(KEYS["other_rsa"])
ED = ed25519.Ed25519PrivateKey.from_private_bytes(hashlib.sha256(b"postroom test ed25519").digest())
ED_OTHER = ed25519.Ed25519PrivateKey.from_private_bytes(hashlib.sha256(b"postroom other ed25519").digest())
EC = ec.derive_private_key(int.from_bytes(hashlib.sha256(b"postroom test p256").digest(), "big"), ec.SECP256R1())
EC_OTHER = ec.derive_private_key(int.from_bytes(hashlib.sha256(b"postroom other p256").digest(), "big"), ec.SECP256R1())
raw_public = lambda key: key.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
spki = lambda key: b64(key.public_key().public_bytes(serialization.Encoding.DER,
                                                     serialization.PublicFormat.SubjectPublicKeyInfo))

out = []


def emit(name, provider, case, valid, request, expected=None, **more):
    entry = {"id": f"{name}-{case}", "provider": provider, "timestamp": NOW, "valid": valid, **request, **more}
    entry = {key: value for key, value in entry.items() if value is not None}
    if expected:
        entry["expected"] = expected
    out.append(entry)


def cases(name, provider, make, secret, other, needs, expected, tolerance=None, covered=True, body="", reason="bad_signature",
          method=None, url=None, tamper=None, rotates=True, **settings):
    """The cases of one scheme: `make(secret, time, body)` gives headers and body as they are sent."""
    request = lambda key, time=NOW, text=body: dict(zip(("headers", "body"), make(key, time, text)), secret=key_of(key),
                                                    method=method, url=url, **settings)
    key_of = lambda key: key if isinstance(key, str) else key[1]
    good = request(secret)
    verified = {"verified": covered, "trust_mode": "signed" if covered else "token", **expected}
    emit(name, provider, "good", True, good, verified)
    wrong = dict(good, secret=key_of(other))
    emit(name, provider, "wrong-secret", False, wrong, {"reason": reason})
    if rotates:
        emit(name, provider, "rotated-second", True, dict(good, secret=[key_of(other), key_of(secret)]),
             {**verified, "secret": 1})
    emit(name, provider, "blank-secret", False, dict(good, secret="  "),
         {"reason": "key_needed" if "BEGIN" in key_of(secret) else "not_configured"})
    changed = tamper(good["body"]) if tamper else good["body"] + " "
    if covered:
        emit(name, provider, "tampered-body", False, dict(good, body=changed), {"reason": "bad_signature"})
    else:
        emit(name, provider, "other-body", True, dict(good, body=changed), {"verified": False, "trust_mode": "token"})
    for header in needs:
        headers = {key: value for key, value in good["headers"].items() if key.lower() != header.lower()}
        emit(name, provider, f"missing-{header.lower()}", False, dict(good, headers=headers),
             {"reason": "missing_signature"})
        if header in good["headers"]:
            value = good["headers"][header]
            emit(name, provider, f"twice-{header.lower()}", False,
                 dict(good, headers={**good["headers"], header: [value, value]}), {"reason": "malformed_signature"})
            emit(name, provider, f"garbled-{header.lower()}", False,
                 dict(good, headers={**good["headers"], header: "\u0000é?"}), None)
    if tolerance is not None:
        for case, offset, valid in [("oldest", tolerance, True), ("stale", tolerance + 1, False),
                                    ("newest", -tolerance, True), ("future", -tolerance - 1, False)]:
            entry = dict(request(secret), timestamp=NOW + offset)
            emit(name, provider, case, valid, entry, verified if valid else {"reason": "stale_timestamp"})


def simple(provider, header, prefix="", encode="hex", digest="sha256", secret=None, body=None, expected=None, extra=None,
           name=None, **more):
    """A signature over the body in one header."""
    secret = secret or f"{provider} secret 0123456789"
    body = body if body is not None else js({"id": f"evt_{provider}", "type": "thing.made", "text": "café 😀"})

    def make(key, time, text):
        signature = mac(key, text, digest)
        return {header: prefix + (signature.hex() if encode == "hex" else b64(signature)), **(extra or {})}, text

    cases(name or provider, provider, make, secret, secret + "x", [header], expected or {}, body=body, **more)


def standard(provider, family="webhook", body=None, expected=None, extra=None, name=None, **more):
    secret = "whsec_" + b64(hashlib.sha256(provider.encode()).digest()[:24])
    other = "whsec_" + b64(hashlib.sha256(b"other" + provider.encode()).digest()[:24])
    body = body or js({"type": "thing.made", "timestamp": "2026-05-28T20:26:40Z", "data": {"text": "Grüße ✓"}})

    def make(key, time, text):
        signature = b64(mac(base64.b64decode(key[6:]), f"msg_{provider}.{time}.{text}"))
        return {f"{family}-id": f"msg_{provider}", f"{family}-timestamp": str(time),
                f"{family}-signature": f"v1,{signature}", **(extra or {})}, text

    cases(name or provider, provider, make, secret, other,
          [f"{family}-id", f"{family}-timestamp", f"{family}-signature"],
          {"external_id": f"msg_{provider}", "external_id_signed": True, **(expected or {"event_type": "thing.made"})},
          tolerance=300, body=body, **more)
    headers, _ = make(secret, NOW, body)
    good = dict(secret=secret, body=body)
    if name is None and family == "webhook":
        unprefixed = dict(good, headers=headers, secret=secret[6:])
        emit(provider, provider, "secret-without-prefix", True, unprefixed)
        signature = headers["webhook-signature"][3:]
        for case, value, valid in [
            ("two-signatures-old-first", f"v1,{b64(bytes(32))} v1,{signature}", True),
            ("two-signatures-old-last", f"v1,{signature} v1,{b64(bytes(32))}", True),
            ("unknown-versions-skipped", f"v2,Zm9v v1a,YmFy v1,{signature}", True),
            ("only-an-unknown-version", f"v2,{signature}", False),
            ("commas-are-no-separator", f"v1,{signature},v1,{signature}", False),
            ("many-signatures", " ".join([f"v1,{b64(bytes(32))}"] * 31 + [f"v1,{signature}"]), True),
            ("too-many-signatures", " ".join([f"v1,{b64(bytes(32))}"] * 32 + [f"v1,{signature}"]), False),
        ]:
            emit(provider, provider, case, valid, dict(good, headers={**headers, "webhook-signature": value}))
        for case, time in [("fraction", f"{NOW}.0"), ("exponent", "178e7"), ("sign", f"+{NOW}"), ("word", "now"),
                           ("absurd", "9" * 30), ("negative", f"-{NOW}")]:
            signature = b64(mac(base64.b64decode(secret[6:]), f"msg_{provider}.{time}.{body}"))
            emit(provider, provider, f"time-{case}", False,
                 dict(good, headers={**headers, "webhook-timestamp": time, "webhook-signature": f"v1,{signature}"}),
                 {"reason": "malformed_signature"})
        signature = b64(mac(base64.b64decode(secret[6:]), f"a.1.{NOW}.{body}"))
        emit(provider, provider, "id-with-a-dot", False,
             dict(good, headers={**headers, "webhook-id": "a.1", "webhook-signature": f"v1,{signature}"}),
             {"reason": "malformed_signature"})


def timed(provider, header, layout, signed, tolerance, encode="hex", body=None, expected=None, unit=1, secret=None):
    """Time and signature as pairs of one header."""
    secret = secret or f"{provider}_secret_0123456789"
    body = body or js({"id": f"evt_{provider}", "type": "thing.made", "text": "café"})

    def make(key, time, text):
        time = time * unit
        signature = mac(key, signed.format(t=time) + text)
        return {header: layout.format(t=time, s=signature.hex() if encode == "hex" else b64(signature))}, text

    cases(provider, provider, make, secret, secret + "x", [header], expected or {}, tolerance=tolerance, body=body)


def token(provider, header, name=None, body=None, expected=None, secret=None, extra=None, **more):
    secret = secret or f"{provider}-token-0123456789"
    make = lambda key, time, text: ({header: key, **(extra or {})}, text)
    cases(name or provider, provider, make, secret, secret + "x", [], expected or {}, covered=False,
          body=body or js({"id": 1}), **more)
    good = dict(secret=secret, body=body or js({"id": 1}))
    emit(name or provider, provider, f"missing-{header.lower()}", False, dict(good, headers=extra or {}),
         {"reason": "missing_signature"})
    emit(name or provider, provider, "prefix-of-the-secret", False, dict(good, headers={header: secret[:-1], **(extra or {})}),
         {"reason": "bad_signature"})


# Standard Webhooks and Svix
standard("standard-webhooks")
for provider in ("openai", "replicate", "brex", "render"):
    standard(provider, body=js({"type": "thing.made", "event_type": "thing.made", "status": "thing.made"}))
standard("gitlab-signing-token", extra={"X-Gitlab-Event": "Push Hook", "X-Gitlab-Token": "t"}, expected={"event_type": "Push Hook"})
for provider in ("svix", "clerk", "resend"):
    standard(provider, family="svix")
    standard(provider, name=f"{provider}-unbranded")
standard("recall", family="svix", body=js({"event": "bot.done"}), expected={"event_type": "bot.done"})


def v1a():
    body = js({"type": "thing.made"})

    def make(key, time, text):
        message = f"msg_ed.{time}.{text}".encode()
        return {"webhook-id": "msg_ed", "webhook-timestamp": str(time),
                "webhook-signature": "v1a," + b64(key[0].sign(message))}, text

    cases("standard-webhooks-v1a", "standard-webhooks", make, (ED, "whpk_" + b64(raw_public(ED))),
          (ED_OTHER, "whpk_" + b64(raw_public(ED_OTHER))), ["webhook-id", "webhook-timestamp", "webhook-signature"],
          {"scheme": "standard-webhooks-v1a"}, tolerance=300, body=body)
    headers, _ = make((ED, ""), NOW, body)
    public = "whpk_" + b64(raw_public(ED))
    # A public key must never work as a shared secret.
    for case, key in [("as-text", public.encode()), ("as-bytes", raw_public(ED))]:
        forged = b64(mac(key, f"msg_ed.{NOW}.{body}"))
        emit("standard-webhooks-v1a", "standard-webhooks", f"public-key-as-secret-{case}", False,
             dict(secret=public, body=body, headers={**headers, "webhook-signature": f"v1,{forged}"}))


v1a()

# One header over the body
github = {"X-GitHub-Event": "issues", "X-GitHub-Delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958"}
simple("github", "X-Hub-Signature-256", "sha256=", body=js({"action": "opened", "text": "é\u2028"}), extra=github,
       expected={"event_type": "issues", "action": "opened", "external_id": github["X-GitHub-Delivery"], "external_id_signed": False})
simple("github-sha1", "X-Hub-Signature", "sha1=", digest="sha1", extra=github, expected={"event_type": "issues"})
simple("bitbucket", "X-Hub-Signature", "sha256=", extra={"X-Event-Key": "repo:push", "X-Request-UUID": "u1"},
       expected={"event_type": "repo:push", "external_id": "u1"})
simple("jira", "X-Hub-Signature", "sha256=", body=js({"webhookEvent": "jira:issue_created", "timestamp": NOW * 1000}),
       extra={"X-Atlassian-Webhook-Identifier": "w1"},
       expected={"event_type": "jira:issue_created", "external_id": "w1", "occurred_at": "2026-05-28T20:26:40.000Z"})
simple("meta-whatsapp", "X-Hub-Signature-256", "sha256=",
       body='{"object":"whatsapp_business_account","entry":[{"id":"1","changes":[{"field":"messages","value":{"messages":[{"id":"wamid.1","text":{"body":"caf\\u00e9"}}]}}]}]}',
       expected={"event_type": "messages", "external_id": "wamid.1", "external_id_signed": True})
simple("intercom", "X-Hub-Signature", "sha1=", digest="sha1", body=js({"id": "notif_1", "topic": "conversation.user.created"}),
       expected={"event_type": "conversation.user.created", "external_id": "notif_1"})
simple("vercel", "x-vercel-signature", digest="sha1", expected={"event_type": "thing.made", "external_id": "evt_vercel"})
simple("sentry", "Sentry-Hook-Signature", body=js({"action": "created"}), extra={"Sentry-Hook-Resource": "issue", "Request-ID": "r1"},
       expected={"event_type": "issue", "action": "created", "external_id": "r1"})
simple("gitea", "X-Gitea-Signature", extra={"X-Gitea-Event": "push", "X-Gitea-Delivery": "d1"},
       expected={"event_type": "push", "external_id": "d1"})
simple("gitea", "X-Hub-Signature-256", "sha256=", name="gitea-hub", extra={"X-Gitea-Event": "push"})
simple("forgejo", "X-Forgejo-Signature", extra={"X-Forgejo-Event": "push", "X-Forgejo-Delivery": "d1"},
       expected={"event_type": "push", "external_id": "d1"})
simple("notion", "X-Notion-Signature", "sha256=", expected={"event_type": "thing.made", "external_id": "evt_notion"})
simple("shopify", "X-Shopify-Hmac-Sha256", encode="b64",
       extra={"X-Shopify-Topic": "orders/create", "X-Shopify-Webhook-Id": "w1", "X-Shopify-Triggered-At": "2026-05-28T20:26:40.5Z"},
       expected={"event_type": "orders/create", "external_id": "w1", "occurred_at": "2026-05-28T20:26:40.500Z"})
simple("woocommerce", "X-WC-Webhook-Signature", encode="b64", extra={"X-WC-Webhook-Topic": "order.created", "X-WC-Webhook-Delivery-ID": "77"},
       expected={"event_type": "order.created", "external_id": "77"})
simple("typeform", "Typeform-Signature", "sha256=", encode="b64", body=js({"event_id": "e1", "event_type": "form_response"}),
       expected={"event_type": "form_response", "external_id": "e1"})
simple("pagerduty", "X-PagerDuty-Signature", "v1=", body=js({"event": {"id": "01ABC", "event_type": "incident.triggered"}}),
       expected={"event_type": "incident.triggered", "external_id": "01ABC"})
simple("dropbox", "X-Dropbox-Signature", body=js({"list_folder": {"accounts": ["a"]}}), expected={"event_type": "files.changed"})
simple("asana", "X-Hook-Signature", body=js({"events": [{"action": "changed", "created_at": "2026-05-28T20:26:40Z"}]}),
       expected={"event_type": "changed"})
simple("line", "x-line-signature", encode="b64", body=js({"events": [{"type": "message", "webhookEventId": "w1", "timestamp": NOW * 1000}]}),
       expected={"event_type": "message", "external_id": "w1", "parts": 1})
for digest, encode in (("sha512", "hex"), ("sha512", "b64"), ("sha256", "hex"), ("sha256", "b64")):
    secret, body = "generic secret", js({"type": "thing.made"})
    signature = mac(secret, body, digest)
    value = signature.hex() if encode == "hex" else b64(signature)
    good = dict(secret=secret, body=body, headers={"X-Sender-Sign": value, "X-Delivery-Id": "d1"})
    name = f"generic-{digest}-{encode}"
    emit(name, "generic", "good", True, good, {"scheme": f"generic-hmac-{digest}", "external_id": "d1", "verified": True})
    emit(name, "generic", "named", True, dict(good, headers={"X-Sender-Sign": f"{digest}={value}"}))
    emit(name, "generic", "wrong-secret", False, dict(good, secret="x"), {"reason": "bad_signature"})
    emit(name, "generic", "tampered-body", False, dict(good, body=body + " "), {"reason": "bad_signature"})
    emit(name, "generic", "missing-header", False, dict(good, headers={}), {"reason": "missing_signature"})
    emit(name, "generic", "truncated", False, dict(good, headers={"X-Sender-Sign": value[:-4]}), {"reason": "missing_signature"})

forgejo_body, forgejo_secret = js({"ref": "refs/heads/main"}), "forge"
forgejo_good = mac(forgejo_secret, forgejo_body).hex()
emit("forgejo", "forgejo", "not-rescued", False,
     dict(secret=forgejo_secret, body=forgejo_body, headers={"X-Forgejo-Signature": "0" * 64, "X-Gitea-Signature": forgejo_good}),
     {"reason": "bad_signature"})
for case, value in [("upper-case-hex", "sha256=" + mac("s", "b").hex().upper()), ]:
    emit("github", "github", case, True, dict(secret="s", body="b", headers={"X-Hub-Signature-256": value}))
for case, value in [("no-prefix", mac("s", "b").hex()), ("short", "sha256=" + mac("s", "b").hex()[:-2]), ("empty", "sha256="),
                    ("sha1-only", "sha1=" + mac("s", "b", "sha1").hex())]:
    emit("github", "github", case, False, dict(secret="s", body="b", headers={"X-Hub-Signature-256": value}),
         {"reason": "malformed_signature"})
emit("github", "github", "sha1-header-does-not-count", False,
     dict(secret="s", body="b", headers={"X-Hub-Signature": "sha1=" + mac("s", "b", "sha1").hex()}), {"reason": "missing_signature"})

# Time and signature in one header
timed("stripe", "Stripe-Signature", "t={t},v1={s}", "{t}.", 300, secret="whsec_dGVzdCBzZWNyZXQgZm9yIHN0cmlwZQ==",
      body=js({"id": "evt_1", "type": "charge.succeeded", "created": NOW}),
      expected={"event_type": "charge.succeeded", "external_id": "evt_1", "external_id_signed": True, "occurred_at": "2026-05-28T20:26:40.000Z"})
timed("elevenlabs", "ElevenLabs-Signature", "t={t},v0={s}", "{t}.", 1800)
timed("calendly", "Calendly-Webhook-Signature", "t={t},v1={s}", "{t}.", 180)
timed("cloudflare-stream", "Webhook-Signature", "time={t},sig1={s}", "{t}.", 300, body=js({"uid": "v1", "status": {"state": "ready"}}),
      expected={"event_type": "ready", "external_id": "v1:ready"})
timed("paddle", "Paddle-Signature", "ts={t};h1={s}", "{t}:", 5, body=js({"event_id": "evt_1", "event_type": "customer.updated"}),
      expected={"event_type": "customer.updated", "external_id": "evt_1"})
timed("workos", "WorkOS-Signature", "t={t}, v1={s}", "{t}.", 180, unit=1000, body=js({"id": "evt_1", "event": "user.created"}),
      expected={"event_type": "user.created", "external_id": "evt_1"})
stripe_secret, stripe_body = "whsec_dGVzdCBzZWNyZXQgZm9yIHN0cmlwZQ==", js({"id": "evt_1"})
stripe_sign = lambda key: mac(key, f"{NOW}.{stripe_body}").hex()
for case, value, valid in [
    ("second-v1", f"t={NOW},v1={'0' * 64},v1={stripe_sign(stripe_secret)}", True),
    ("first-v1", f"t={NOW},v1={stripe_sign(stripe_secret)},v1={'0' * 64},v0={'1' * 64}", True),
    ("only-v0", f"t={NOW},v0={stripe_sign(stripe_secret)}", False),
    ("no-time", f"v1={stripe_sign(stripe_secret)}", False),
    ("two-times", f"t={NOW},t={NOW + 1},v1={stripe_sign(stripe_secret)}", False),
    ("decoded-secret", f"t={NOW},v1={stripe_sign(base64.b64decode(stripe_secret[6:]))}", False),
]:
    emit("stripe", "stripe", case, valid, dict(secret=stripe_secret, body=stripe_body, headers={"Stripe-Signature": value}))


def two_headers(provider, signature_header, time_header, signed, tolerance, prefix="", encode="hex", time=str, body=None, expected=None,
                secret=None, extra=None, method=None, url=None, name=None, tamper=None):
    secret = secret or f"{provider} secret 0123456789"
    body = body if body is not None else js({"id": f"evt_{provider}", "type": "thing.made", "text": "café"})

    def make(key, at, text):
        signature = mac(key, signed(time(at), text))
        return {signature_header: prefix + (signature.hex() if encode == "hex" else b64(signature)), time_header: time(at),
                **(extra or {})}, text

    cases(name or provider, provider, make, secret, secret + "x", [signature_header, time_header], expected or {}, tolerance=tolerance,
          body=body, method=method, url=url, tamper=tamper)


v0 = lambda time, body: f"v0:{time}:{body}"
two_headers("slack", "X-Slack-Signature", "X-Slack-Request-Timestamp", v0, 300, "v0=",
            body=js({"type": "event_callback", "event_id": "Ev1", "event_time": NOW, "event": {"type": "app_mention"}}),
            expected={"event_type": "app_mention", "external_id": "Ev1", "external_id_signed": True})
two_headers("zoom", "x-zm-signature", "x-zm-request-timestamp", v0, 300, "v0=",
            body=js({"event": "meeting.started", "event_ts": NOW * 1000, "payload": {"object": {"id": "1"}}}),
            expected={"event_type": "meeting.started", "external_id": f"meeting.started:{NOW}000:1"})
two_headers("zendesk", "X-Zendesk-Webhook-Signature", "X-Zendesk-Webhook-Signature-Timestamp", lambda t, b: t + b, 300, encode="b64",
            time=rfc3339, expected={"event_type": "thing.made"})
two_headers("zendesk", "X-Zendesk-Webhook-Signature", "X-Zendesk-Webhook-Signature-Timestamp", lambda t, b: b + t, 300, encode="b64",
            time=rfc3339, name="zendesk-body-first", expected={"scheme": "zendesk-sha256-body-first"})
two_headers("twitch", "Twitch-Eventsub-Message-Signature", "Twitch-Eventsub-Message-Timestamp", lambda t, b: "m1" + t + b, 600, "sha256=",
            time=rfc3339, extra={"Twitch-Eventsub-Message-Id": "m1"}, body=js({"subscription": {"type": "stream.online"}}),
            expected={"event_type": "stream.online", "external_id": "m1", "external_id_signed": True})
two_headers("hubspot", "X-HubSpot-Signature-v3", "X-HubSpot-Request-Timestamp",
            lambda t, b: "POST" + "https://hooks.postroom.example/in/a?b=c:d" + b + t, 300, encode="b64", time=lambda at: str(at * 1000),
            method="POST", url="https://hooks.postroom.example/in/a?b=c%3Ad",
            body=js([{"eventId": 1, "subscriptionId": 2, "occurredAt": NOW * 1000, "subscriptionType": "contact.creation"}]),
            expected={"event_type": "contact.creation", "external_id": f"1:2:{NOW}000", "parts": 1})
hub_secret, hub_body, hub_url = "hubspot secret", js([{"eventId": 1}]), "https://hooks.postroom.example/in/a"
for case, text in [("v1", hub_secret + hub_body), ("v2", hub_secret + "POST" + hub_url + hub_body)]:
    good = dict(secret=hub_secret, body=hub_body, url=hub_url, method="POST",
                headers={"X-HubSpot-Signature": hashlib.sha256(text.encode()).hexdigest()})
    # The untimed versions count only where the source names one, also beside v3's headers.
    named = dict(good, only_scheme=f"hubspot-{case}")
    beside = {**good["headers"], "X-HubSpot-Request-Timestamp": f"{NOW}000", "X-HubSpot-Signature-v3": "v3"}
    emit(f"hubspot-{case}", "hubspot", "good", True, named, {"scheme": f"hubspot-{case}"})
    emit(f"hubspot-{case}", "hubspot", "named-beside-v3", True, dict(named, headers=beside), {"scheme": f"hubspot-{case}"})
    emit(f"hubspot-{case}", "hubspot", "recorded", True, dict(good, recorded=True), {"scheme": f"hubspot-{case}"})
    emit(f"hubspot-{case}", "hubspot", "tampered-body", False, dict(named, body=hub_body + " "), {"reason": "bad_signature"})
    emit(f"hubspot-{case}", "hubspot", "wrong-secret", False, dict(named, secret="x"), {"reason": "bad_signature"})
    emit(f"hubspot-{case}", "hubspot", "not-named", False, good, {"reason": "missing_signature"})
    emit(f"hubspot-{case}", "hubspot", "downgrade", False,
         dict(good, headers={**good["headers"], "X-HubSpot-Request-Timestamp": f"{NOW}000"}), {"reason": "missing_signature"})
    emit(f"hubspot-{case}", "hubspot", "bad-v3-not-rescued", False,
         dict(good, headers={**good["headers"], "X-HubSpot-Signature-v3": b64(bytes(32))}), {"reason": "missing_signature"})

# A time in the body
for provider, header, prefix, field, tolerance, extra in [
    ("linear", "Linear-Signature", "", lambda at: {"webhookTimestamp": at * 1000, "type": "Issue", "action": "create"}, 60,
     {"Linear-Delivery": "d1", "Linear-Event": "Issue"}),
    ("plain", "Plain-Request-Signature", "", lambda at: {"id": "e1", "type": "thread.thread_created", "webhookMetadata": {
        "webhookDeliveryAttemptTimestamp": rfc3339(at)}}, 300, {}),
    ("cairn", "X-Cairn-Signature", "sha256=", lambda at: {"event_id": "e1", "type": "artifact.made", "created_at": rfc3339(at)}, 300,
     {"X-Cairn-Event-Id": "e1"}),
]:
    def make(key, time, text, header=header, prefix=prefix, extra=extra):
        return {header: prefix + mac(key, text).hex(), **extra}, text

    secret = f"{provider} secret 0123456789"
    cases(provider, provider, make, secret, secret + "x", [header], {}, tolerance=tolerance, body=js(field(NOW)))
    untimed = js({"id": "e1", "event_id": "e1"})
    emit(provider, provider, "no-time-in-body", False, dict(secret=secret, body=untimed, headers=make(secret, 0, untimed)[0]),
         {"reason": "missing_signature"})
cairn = js({"event_id": "e1", "created_at": rfc3339(NOW)})
emit("cairn", "cairn", "another-id-in-header", False,
     dict(secret="s", body=cairn, headers={"X-Cairn-Signature": "sha256=" + mac("s", cairn).hex(), "X-Cairn-Event-Id": "e2"}),
     {"reason": "event_id_mismatch"})
fraction = js({"webhookTimestamp": NOW * 1000 + 0.5})
emit("linear", "linear", "time-fraction", False, dict(secret="s", body=fraction, headers={"Linear-Signature": mac("s", fraction).hex()}),
     {"reason": "malformed_signature"})

# The URL is signed
square_body = js({"event_id": "e1", "type": "payment.created", "created_at": rfc3339(NOW)})
cases("square", "square", lambda key, time, text: ({"x-square-hmacsha256-signature": b64(mac(key, URL + text))}, text),
      "square key", "other", ["x-square-hmacsha256-signature"], {"event_type": "payment.created", "external_id": "e1"}, body=square_body, url=URL)
good = dict(secret="square key", body=square_body, headers={"x-square-hmacsha256-signature": b64(mac("square key", URL + square_body))})
emit("square", "square", "another-url", False, dict(good, url=URL + "&x=1"), {"reason": "bad_signature"})


def twilio(key, url, params):
    pairs = {}
    for name, value in params:
        pairs.setdefault(name, set()).add(value)
    text = url + "".join(name + value for name in sorted(pairs) for value in sorted(pairs[name]))
    return b64(mac(key, text, "sha1"))


form = [("To", "+18005551212"), ("From", "+14158675309"), ("Body", "café & = + 😀"), ("MessageSid", "SM1"), ("SmsStatus", "received"),
        ("Digits", "5678"), ("Digits", "1234"), ("Digits", "1234")]
form_body = urllib.parse.urlencode(form)
base = "https://hooks.postroom.example/in/a?foo=1&bar=2"
form_type = {"Content-Type": "application/x-www-form-urlencoded"}
cases("twilio", "twilio", lambda key, time, text: ({"X-Twilio-Signature": twilio(key, base, urllib.parse.parse_qsl(text, True)), **form_type,
                                                    "I-Twilio-Idempotency-Token": "i1"}, text),
      "auth token", "other", ["X-Twilio-Signature"], {"event_type": "received", "external_id": "i1"}, body=form_body, url=base,
      tamper=lambda body: body.replace("SM1", "SM2"))
for case, signed_url, called in [("port-added", base.replace("example/", "example:443/"), base),
                                 ("port-dropped", base, base.replace("example/", "example:8443/")),
                                 ("http-port-added", "http://h.example:80/a", "http://h.example/a"),
                                 ("v6-port-dropped", "https://[2001:db8::1]/a", "https://[2001:db8::1]:8443/a")]:
    emit("twilio", "twilio", case, True, dict(secret="t", body=form_body, url=called, headers={"X-Twilio-Signature": twilio("t", signed_url, form), **form_type}))
for case, called in [("http-for-https", base.replace("https", "http")), ("another-query-order", "https://hooks.postroom.example/in/a?bar=2&foo=1"),
                     ("trailing-slash", base.replace("/a?", "/a/?"))]:
    emit("twilio", "twilio", case, False, dict(secret="t", body=form_body, url=called, headers={"X-Twilio-Signature": twilio("t", base, form), **form_type}),
         {"reason": "bad_signature"})
twilio_json = js({"property": "value", "boolean": True})
hashed = base + "&bodySHA256=" + hashlib.sha256(twilio_json.encode()).hexdigest()
twilio_hashed = dict(secret="t", body=twilio_json, url=hashed, headers={"X-Twilio-Signature": twilio("t", hashed, []), "Content-Type": "application/json"})
emit("twilio-json", "twilio", "good", True, twilio_hashed, {"verified": True})
emit("twilio-json", "twilio", "tampered-body", False, dict(twilio_hashed, body=twilio_json + " "), {"reason": "bad_signature"})
emit("twilio-json", "twilio", "no-hash-in-url", False,
     dict(twilio_hashed, url=base, headers={"X-Twilio-Signature": twilio("t", base, []), "Content-Type": "application/json"}), {"reason": "bad_signature"})
emit("twilio", "twilio", "get", True, dict(secret="t", body="", method="GET", url=base, headers={"X-Twilio-Signature": twilio("t", base, [])}))

plivo_url = "https://hooks.postroom.example/in/a"


def plivo(key, url, method, params, nonce):
    query = urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query, keep_blank_values=True)
    text = url.split("?")[0]
    if query or params:
        text += "?"
    text += "&".join(f"{name}={value}" for name, value in sorted(query))
    if query and params:
        text += "."
    text += "".join(name + value for name, value in sorted(params))
    return b64(mac(key, f"{text}.{nonce}"))


plivo_params = [("From", "1979"), ("To", "sip:a@b"), ("Event", "StartApp"), ("CallStatus", "in-progress")]
for case, url in [("plivo", plivo_url), ("plivo-query", plivo_url + "?b=2&a=1%202")]:
    cases(case, "plivo", lambda key, time, text, url=url: ({
        "X-Plivo-Signature-V3": plivo(key, url, "POST", urllib.parse.parse_qsl(text, True), "n1"), "X-Plivo-Signature-V3-Nonce": "n1", **form_type}, text),
        "auth token", "other", ["X-Plivo-Signature-V3", "X-Plivo-Signature-V3-Nonce"],
        {"event_type": "StartApp", "external_id": "n1", "external_id_signed": True}, body=urllib.parse.urlencode(plivo_params), url=url,
        tamper=lambda body: body.replace("1979", "1980"))
get = plivo_url + "?" + urllib.parse.urlencode(plivo_params)
good = dict(secret="t", body="", method="GET", url=get, headers={"X-Plivo-Signature-V3": "AAAA," + plivo("t", get, "GET", [], "n1"), "X-Plivo-Signature-V3-Nonce": "n1"})
emit("plivo-get", "plivo", "good", True, good, {"event_type": "StartApp"})
emit("plivo-get", "plivo", "with-a-body", False, dict(good, body="a=b"), {"reason": "unsupported_source"})
emit("plivo-get", "plivo", "another-query", False, dict(good, url=get + "&x=1"), {"reason": "bad_signature"})
main = {"X-Plivo-Signature-Ma-V3": good["headers"]["X-Plivo-Signature-V3"], "X-Plivo-Signature-V3-Nonce": "n1"}
emit("plivo-main-account", "plivo", "good", True, dict(good, headers=main), {"scheme": "plivo-v3-main-account"})
v2 = dict(secret="t", body="a=b", url=plivo_url, headers={"X-Plivo-Signature-V2": b64(mac("t", plivo_url + "n1")), "X-Plivo-Signature-V2-Nonce": "n1"})
v2_named = dict(v2, only_scheme="plivo-v2")
emit("plivo-v2", "plivo", "good", True, v2_named, {"verified": False, "trust_mode": "token", "scheme": "plivo-v2"})
emit("plivo-v2", "plivo", "wrong-secret", False, dict(v2_named, secret="x"), {"reason": "bad_signature"})
emit("plivo-v2", "plivo", "not-named", False, v2, {"reason": "missing_signature"})
emit("plivo-v2", "plivo", "bad-v3-not-rescued", False,
     dict(v2, headers={**v2["headers"], "X-Plivo-Signature-V3": b64(bytes(32)), "X-Plivo-Signature-V3-Nonce": "n1"}), {"reason": "bad_signature"})

# Public keys
cases("telnyx", "telnyx", lambda key, time, text: ({"telnyx-signature-ed25519": b64(key[0].sign(f"{time}|{text}".encode())), "telnyx-timestamp": str(time)}, text),
      (ED, b64(raw_public(ED))), (ED_OTHER, b64(raw_public(ED_OTHER))), ["telnyx-signature-ed25519", "telnyx-timestamp"],
      {"event_type": "message.received", "external_id": "e1"}, tolerance=300, body=js({"data": {"event_type": "message.received", "id": "e1"}}))
cases("discord", "discord", lambda key, time, text: ({"X-Signature-Ed25519": key[0].sign(f"{time}{text}".encode()).hex(), "X-Signature-Timestamp": str(time)}, text),
      (ED, raw_public(ED).hex()), (ED_OTHER, raw_public(ED_OTHER).hex()), ["X-Signature-Ed25519", "X-Signature-Timestamp"],
      {"event_type": "2", "external_id": "i1"}, tolerance=300, body=js({"type": 2, "id": "i1"}))
ping = js({"type": 1, "id": "2"})
emit("discord", "discord", "ping", True, dict(secret=raw_public(ED).hex(), body=ping, headers={
    "X-Signature-Ed25519": ED.sign(f"{NOW}{ping}".encode()).hex(), "X-Signature-Timestamp": str(NOW)}), None, expected_response={"type": 1})
# The neutral element as public key: any signature would hold for it.
emit("discord", "discord", "weak-key", False, dict(secret="01" + "00" * 31, body="x", headers={
    "X-Signature-Ed25519": "01" + "00" * 63, "X-Signature-Timestamp": str(NOW)}))
signed_parts = lambda key, time, text: ({
    "X-Twilio-Email-Event-Webhook-Signature": b64(key[0].sign(f"{time}{text}".encode(), ec.ECDSA(hashes.SHA256()))),
    "X-Twilio-Email-Event-Webhook-Timestamp": str(time)}, text)
sendgrid_headers = ["X-Twilio-Email-Event-Webhook-Signature", "X-Twilio-Email-Event-Webhook-Timestamp"]
cases("sendgrid", "sendgrid", signed_parts, (EC, spki(EC)), (EC_OTHER, spki(EC_OTHER)), sendgrid_headers,
      {"event_type": "delivered", "parts": 2}, tolerance=300,
      body=js([{"event": "delivered", "sg_event_id": "a", "timestamp": NOW}, {"event": "open", "sg_event_id": "b"}]) + "\r\n")
boundary = "xYzZY"
multipart = "".join(f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in
                    [("headers", "Subject: a\nMessage-ID: <m1@a.example>\n"), ("from", "a@a.example")]) + f"--{boundary}--\r\n"
multipart_type = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
cases("sendgrid-inbound", "sendgrid-inbound", lambda key, time, text: ({**signed_parts(key, time, text)[0], **multipart_type}, text),
      (EC, spki(EC)), (EC_OTHER, spki(EC_OTHER)), sendgrid_headers,
      {"event_type": "message.received", "external_id": "<m1@a.example>"}, tolerance=300, body=multipart)

# Tokens
gitlab = {"X-Gitlab-Event": "Push Hook", "X-Gitlab-Event-UUID": "u1"}
token("gitlab", "X-Gitlab-Token", extra=gitlab, expected={"event_type": "Push Hook", "external_id": "u1"})
token("cloudflare", "cf-webhook-auth", body=js({"alert_type": "universal_ssl_event_type"}), expected={"event_type": "universal_ssl_event_type"})
token("telegram", "X-Telegram-Bot-Api-Secret-Token", body=js({"update_id": 7}), expected={"external_id": "7"})
token("deepgram", "dg-token", body=js({"metadata": {"request_id": "r1"}}), expected={"external_id": "r1"})
token("assemblyai", "X-Webhook-Secret", body=js({"transcript_id": "t1", "status": "completed"}), expected={"external_id": "t1:completed", "event_type": "completed"})
token("okta", "Authorization", body=js({"eventId": "e1"}), expected={"external_id": "e1"})
token("token", "X-Webhook-Token", body=js({"type": "a.b"}), expected={"event_type": "a.b"})
basic = lambda secret: "Basic " + b64(secret.encode())
for provider, name, body, expected in [
    ("postmark", "postmark", js({"MessageID": "m1", "RecordType": "Delivery", "DeliveredAt": rfc3339(NOW)}),
     {"event_type": "Delivery", "external_id": f"m1:Delivery:{rfc3339(NOW)}"}),
    ("postmark", "postmark-inbound", js({"MessageID": "m1", "From": "a@a.example"}), {"event_type": "Inbound", "external_id": "m1"}),
    ("token", "token-basic", js({"type": "a.b"}), {"event_type": "a.b", "scheme": "token-basic"}),
]:
    cases(name, provider, lambda key, time, text: ({"Authorization": basic(key)}, text), "user:p@ss:word", "user:other", [], expected,
          covered=False, body=body)
    emit(name, provider, "no-credentials", False, dict(secret="a:b", body=body, headers={}), {"reason": "missing_signature"})
    emit(name, provider, "bearer-is-not-basic", False, dict(secret="a:b", body=body, headers={"Authorization": "Digest a:b"}), {"reason": "missing_signature"})
    emit(name, provider, "broken-base64", False, dict(secret="a:b", body=body, headers={"Authorization": "Basic !!!"}), {"reason": "malformed_signature"})
emit("token-bearer", "token", "good", True, dict(secret="abc", body="{}", headers={"Authorization": "bearer abc"}), {"scheme": "token-bearer"})
emit("token-bearer", "token", "wrong", False, dict(secret="abc", body="{}", headers={"Authorization": "Bearer abd"}), {"reason": "bad_signature"})
emit("url-token", "url-token", "good", True, dict(secret="", body="x", headers={"X-Delivery-Id": "d1"}),
     {"verified": False, "trust_mode": "token", "external_id": "d1"})
emit("url-token", "url-token", "long-id-ignored", True, dict(secret="", body="x", headers={"X-Delivery-Id": "d" * 257}),
     {"external_id": "sha256:" + hashlib.sha256(b"x").hexdigest()})
emit("url-token", "url-token", "longest-id-kept", True, dict(secret="", body="x", headers={"X-Delivery-Id": "d" * 256}), {"external_id": "d" * 256})


def mailgun(key, time, token="a8ce0edb2dd8301dee6c2405235584e45aa91d1e9f979f3de0"):
    return {"timestamp": str(time), "token": token, "signature": mac(key, f"{time}{token}").hex()}


event = {"event": "delivered", "id": "G9", "timestamp": NOW + 0.25}
good = dict(secret="mgkey", headers={}, body=js({"signature": mailgun("mgkey", NOW), "event-data": event}))
uncovered = {"verified": False, "trust_mode": "token", "external_id": mailgun("", 0)["token"], "external_id_signed": True}
emit("mailgun", "mailgun", "good", True, good, {**uncovered, "event_type": "delivered"})
emit("mailgun", "mailgun", "other-event", True, dict(good, body=good["body"].replace("delivered", "complained")), {**uncovered, "event_type": "complained"})
emit("mailgun", "mailgun", "wrong-secret", False, dict(good, secret="x"), {"reason": "bad_signature"})
emit("mailgun", "mailgun", "another-token", False, dict(good, body=good["body"].replace("a8ce", "a8cf")), {"reason": "bad_signature"})
emit("mailgun", "mailgun", "no-signature", False, dict(good, body=js({"event-data": event})), {"reason": "missing_signature"})
for case, offset, valid in [("oldest", 300, True), ("stale", 301, False), ("newest", -300, True), ("future", -301, False)]:
    emit("mailgun", "mailgun", case, valid, dict(good, timestamp=NOW + offset), None if valid else {"reason": "stale_timestamp"})
fields = {**mailgun("mgkey", NOW), "recipient": "a@a.example", "body-plain": "hello"}
emit("mailgun-form", "mailgun", "good", True, dict(secret="mgkey", headers=form_type, body=urllib.parse.urlencode(fields)), {**uncovered, "scheme": "mailgun-form-token"})
parts = "".join(f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in fields.items())
emit("mailgun-multipart", "mailgun", "good", True, dict(secret="mgkey", headers=multipart_type, body=parts + f"--{boundary}--\r\n"), uncovered)
emit("mailgun-form", "mailgun", "tampered-token", False,
     dict(secret="mgkey", headers=form_type, body=urllib.parse.urlencode({**fields, "token": "b"})), {"reason": "bad_signature"})

graph_item = {"subscriptionId": "s", "clientState": "state", "changeType": "created", "resource": "users/1/messages/2"}
good = dict(secret="state", headers={}, body=js({"value": [graph_item, graph_item]}))
emit("graph", "microsoft-graph", "good", True, good, {"verified": False, "trust_mode": "token", "event_type": "created", "parts": 2})
emit("graph", "microsoft-graph", "wrong-secret", False, dict(good, secret="x"), {"reason": "bad_signature"})
emit("graph", "microsoft-graph", "mixed", False, dict(good, body=js({"value": [graph_item, dict(graph_item, clientState="x")]})), {"reason": "bad_signature"})
emit("graph", "microsoft-graph", "one-without", False,
     dict(good, body=js({"value": [graph_item, {"subscriptionId": "s"}]})), {"reason": "bad_signature"})
emit("graph", "microsoft-graph", "empty", False, dict(good, body=js({"value": []})), {"reason": "missing_signature"})


def jwt(claims, key, algorithm="HS256", head=None):
    header = {"alg": algorithm, "typ": "JWT", **(head or {})}
    signed = b64u(js(header).encode()) + "." + b64u(js(claims).encode())
    if algorithm == "RS256":
        signature = key.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256())
    elif algorithm == "none":
        signature = b""
    else:
        signature = mac(key, signed)
    return f"Bearer {signed}.{b64u(signature)}"


tokens = {"aud": "app-id", "azp": "0bf30f3b-4a52-48df-9a82-234910c4a086", "iss": "https://sts.windows.net/t/", "exp": NOW + 60, "iat": NOW}
for case, claims, valid in [("good", tokens, True), ("wrong-audience", {**tokens, "aud": "x"}, False), ("wrong-party", {**tokens, "azp": "x"}, False),
                            ("expired", {**tokens, "exp": NOW}, False), ("wrong-issuer", {**tokens, "iss": "https://evil.example/"}, False)]:
    body = js({"value": [graph_item], "validationTokens": [jwt(claims, KEYS["rsa"], "RS256", {"kid": "k1"})[7:]]})
    emit("graph-rich", "microsoft-graph", case, valid, dict(secret=["state", PUBLIC], headers={}, body=body, expected_audience="app-id"))

vonage_body = js({"message_uuid": "u1", "channel": "sms", "text": "hi"})
claims = {"iat": NOW, "jti": "j1", "payload_hash": hashlib.sha256(vonage_body.encode()).hexdigest()}
good = dict(secret="vonage secret", body=vonage_body, headers={"Authorization": jwt(claims, "vonage secret")})
emit("vonage", "vonage", "good", True, good, {"verified": True, "external_id": "j1", "external_id_signed": True, "event_type": "sms"})
emit("vonage", "vonage", "tampered-body", False, dict(good, body=vonage_body + " "), {"reason": "bad_signature"})
emit("vonage", "vonage", "wrong-secret", False, dict(good, secret="x"), {"reason": "bad_signature"})
emit("vonage", "vonage", "missing-authorization", False, dict(good, headers={}), {"reason": "missing_signature"})
for case, token_text, reason in [
    ("alg-none", jwt(claims, "", "none"), "malformed_signature"),
    ("alg-hs512", jwt(claims, "vonage secret", "HS512"), "malformed_signature"),
    ("no-body-hash", jwt({"iat": NOW}, "vonage secret"), "bad_signature"),
    ("no-issue-time", jwt({"payload_hash": claims["payload_hash"]}, "vonage secret"), "malformed_signature"),
    ("fraction", jwt({**claims, "iat": NOW + 0.5}, "vonage secret"), "malformed_signature"),
    ("expired", jwt({**claims, "exp": NOW}, "vonage secret"), "stale_timestamp"),
    ("not-yet", jwt({**claims, "nbf": NOW + 301}, "vonage secret"), "stale_timestamp"),
    ("critical", jwt(claims, "vonage secret", head={"crit": ["x"]}), "malformed_signature"),
    ("two-parts", "Bearer " + jwt(claims, "vonage secret")[7:].rsplit(".", 1)[0], "malformed_signature"),
]:
    emit("vonage", "vonage", case, False, dict(good, headers={"Authorization": token_text}), {"reason": reason})
for case, offset, valid in [("oldest", 300, True), ("stale", 301, False), ("newest", -300, True), ("future", -301, False)]:
    emit("vonage", "vonage", case, valid, dict(good, timestamp=NOW + offset), None if valid else {"reason": "stale_timestamp"})
emit("vonage", "vonage", "get", True, dict(secret="s", body="", method="GET", url=URL, headers={"Authorization": jwt({"iat": NOW}, "s")}),
     {"verified": False, "trust_mode": "token"})
emit("jira-oauth", "jira-oauth", "good", True, dict(secret="s", body="{}", headers={"Authorization": jwt({"exp": NOW + 1, "iat": NOW}, "s")}),
     {"verified": False, "trust_mode": "token"})
emit("jira-oauth", "jira-oauth", "expired", False, dict(secret="s", body="{}", headers={"Authorization": jwt({"exp": NOW}, "s")}), {"reason": "stale_timestamp"})
emit("jira-oauth", "jira-oauth", "no-expiry", False, dict(secret="s", body="{}", headers={"Authorization": jwt({"iat": NOW}, "s")}), {"reason": "malformed_signature"})
emit("jira-oauth", "jira-oauth", "wrong-secret", False, dict(secret="x", body="{}", headers={"Authorization": jwt({"exp": NOW + 1}, "s")}), {"reason": "bad_signature"})


def vonage_sms(params, secret, algorithm):
    text = "".join(f"&{name}={str(value).replace('&', '_').replace('=', '_')}" for name, value in sorted(params.items()))
    if algorithm == "md5-hash":
        return hashlib.md5((text + secret).encode()).hexdigest()
    return mac(secret, text, algorithm).hex()


params = {"messageId": "m1", "nonce": "n1", "text": "a&b=c d", "timestamp": str(NOW), "msisdn": "447700900001"}
for algorithm in ("md5-hash", "md5", "sha1", "sha256", "sha512"):
    signed = {**params, "sig": vonage_sms(params, "sig secret", algorithm)}
    good = dict(secret="sig secret", headers=form_type, body=urllib.parse.urlencode(signed))
    name = f"vonage-sms-{algorithm}"
    emit(name, "vonage", "good", True, good, {"scheme": name, "external_id": "m1:n1"})
    emit(name, "vonage", "json", True, dict(good, headers={"Content-Type": "application/json"}, body=js(signed)), {"scheme": name})
    emit(name, "vonage", "query", True, dict(good, headers={}, body="", method="GET", url=plivo_url + "?" + urllib.parse.urlencode(signed)))
    emit(name, "vonage", "tampered", False, dict(good, body=urllib.parse.urlencode({**signed, "text": "x"})), {"reason": "bad_signature"})
    emit(name, "vonage", "wrong-secret", False, dict(good, secret="x"), {"reason": "bad_signature"})
    emit(name, "vonage", "stale", False, dict(good, timestamp=NOW + 301), {"reason": "stale_timestamp"})
    emit(name, "vonage", "parameter-twice", False, dict(good, body=good["body"] + "&text=x"), {"reason": "malformed_signature"})
untimed = {"messageId": "m1", "sig": vonage_sms({"messageId": "m1"}, "s", "sha256")}
emit("vonage-sms", "vonage", "no-time", False, dict(secret="s", headers=form_type, body=urllib.parse.urlencode(untimed)), {"reason": "missing_signature"})

google = {"aud": "https://gw.example/in/ps", "iss": "https://accounts.google.com", "email": "push@p.iam.gserviceaccount.com", "email_verified": True,
          "exp": NOW + 3600, "iat": NOW}
pubsub = js({"message": {"data": "e30=", "messageId": "136969346945", "publishTime": rfc3339(NOW)}, "subscription": "s"})
rs = lambda claims, **more: jwt(claims, KEYS["rsa"], "RS256", {"kid": "k1", **more})
good = dict(secret=PUBLIC, body=pubsub, headers={"Authorization": rs(google)}, expected_audience="https://gw.example/in/ps",
            expected_email="push@p.iam.gserviceaccount.com")
emit("pubsub", "google-pubsub", "good", True, good, {"verified": False, "trust_mode": "token", "external_id": "136969346945"})
emit("pubsub", "google-pubsub", "wrong-key", False, dict(good, secret=OTHER_PUBLIC), {"reason": "bad_signature"})
emit("pubsub", "google-pubsub", "no-key", False, dict(good, secret=""), {"reason": "key_needed"})
emit("pubsub", "google-pubsub", "missing-authorization", False, dict(good, headers={}), {"reason": "missing_signature"})
emit("pubsub", "google-pubsub", "no-audience-set", False, dict(good, expected_audience=None), {"reason": "not_configured"})
emit("pubsub", "google-pubsub", "no-account-set", False, dict(good, expected_email=None), {"reason": "not_configured"})
emit("pubsub", "google-pubsub", "expired", False, dict(good, timestamp=NOW + 3600), {"reason": "stale_timestamp"})
for case, claims, reason in [("wrong-audience", {**google, "aud": "x"}, "bad_signature"), ("wrong-account", {**google, "email": "x"}, "bad_signature"),
                             ("account-not-verified", {**google, "email_verified": False}, "bad_signature"),
                             ("account-verified-as-text", {**google, "email_verified": "true"}, "bad_signature"),
                             ("wrong-issuer", {**google, "iss": "https://accounts.google.com.evil.example"}, "bad_signature"),
                             ("no-expiry", {key: value for key, value in google.items() if key != "exp"}, "malformed_signature")]:
    emit("pubsub", "google-pubsub", case, False, dict(good, headers={"Authorization": rs(claims)}), {"reason": reason})
emit("pubsub", "google-pubsub", "audience-list", True, dict(good, headers={"Authorization": rs({**google, "aud": ["x", google["aud"]]})}))
# The public key as an HMAC secret: the classic confusion.
emit("pubsub", "google-pubsub", "alg-confusion", False, dict(good, headers={"Authorization": jwt(google, PUBLIC, "HS256")}), {"reason": "malformed_signature"})
emit("pubsub", "google-pubsub", "alg-none", False, dict(good, headers={"Authorization": jwt(google, "", "none")}), {"reason": "malformed_signature"})

# Certificates
sns_url = "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem"


def sns(message, version="2", key=None, url=sns_url):
    names = ["Message", "MessageId", "Subject", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"]
    text = "".join(f"{name}\n{message[name]}\n" for name in names if name in message)
    digest = hashes.SHA1() if version == "1" else hashes.SHA256()
    signature = (key or KEYS["rsa"]).sign(text.encode(), padding.PKCS1v15(), digest)
    return js({**message, "SignatureVersion": version, "SigningCertURL": url, "Signature": b64(signature)})


note = {"Type": "Notification", "MessageId": "m1", "TopicArn": "arn:aws:sns:eu-west-1:1:t", "Message": "{\"a\":\"é\\n\"}", "Timestamp": rfc3339(NOW)}
for name, message, version in [("sns-v2", note, "2"), ("sns-v1", note, "1"), ("sns-subject", {**note, "Subject": "s"}, "2")]:
    good = dict(secret=CERT, headers={"x-amz-sns-message-type": "Notification", "Content-Type": "text/plain; charset=UTF-8"}, body=sns(message, version))
    emit(name, "aws-sns", "good", True, good, {"verified": True, "external_id": "m1", "external_id_signed": True, "event_type": "Notification"})
    emit(name, "aws-sns", "wrong-key", False, dict(good, secret=OTHER_CERT), {"reason": "bad_signature"})
    emit(name, "aws-sns", "tampered", False, dict(good, body=good["body"].replace("m1", "m2")), {"reason": "bad_signature"})
    emit(name, "aws-sns", "topic-pinned", True, dict(good, topic_arn=note["TopicArn"]))
    emit(name, "aws-sns", "another-topic", False, dict(good, topic_arn="arn:aws:sns:eu-west-1:2:t"), {"reason": "bad_signature"})
    emit(name, "aws-sns", "no-key", False, dict(good, secret=""), {"reason": "key_needed"})
    emit(name, "aws-sns", "an-hour-old", True, dict(good, timestamp=NOW + 3600))
    emit(name, "aws-sns", "stale", False, dict(good, timestamp=NOW + 3601), {"reason": "stale_timestamp"})
    emit(name, "aws-sns", "ahead", False, dict(good, timestamp=NOW - 3601), {"reason": "stale_timestamp"})
    emit(name, "aws-sns", "recorded-long-ago", True, dict(good, timestamp=NOW + 400_000_000, recorded=True))
    emit(name, "aws-sns", "longer-when-asked", True, dict(good, tolerance_s=7200, timestamp=NOW + 7200))
    emit(name, "aws-sns", "fresh-when-asked", True, dict(good, tolerance_s=60))
    emit(name, "aws-sns", "stale-when-asked", False, dict(good, tolerance_s=60, timestamp=NOW + 61), {"reason": "stale_timestamp"})
    other = "1" if version == "2" else "2"
    emit(name, "aws-sns", "another-version", False,
         dict(good, body=good["body"].replace(f'"SignatureVersion":"{version}"', f'"SignatureVersion":"{other}"')), {"reason": "bad_signature"})
emit("sns-v2", "aws-sns", "missing-signature", False, dict(secret=CERT, headers={}, body=js(note)), {"reason": "missing_signature"})
emit("sns-v2", "aws-sns", "unknown-version", False, dict(secret=CERT, headers={}, body=sns(note, "2").replace('"SignatureVersion":"2"', '"SignatureVersion":"3"')),
     {"reason": "missing_signature"})
for number, url in enumerate([
    "http://sns.eu-west-1.amazonaws.com/SimpleNotificationService-x.pem", "https://s3.amazonaws.com/b/SimpleNotificationService-x.pem",
    "https://sns.eu-west-1.amazonaws.com.evil.example/SimpleNotificationService-x.pem", "https://sns.eu-west-1.amazonaws.com@evil.example/SimpleNotificationService-x.pem",
    "https://sns.eu-west-1.amazonaws.com:8443/SimpleNotificationService-x.pem", "https://sns.eu-west-1.amazonaws.com/other.pem",
    "https://evil-sns.eu-west-1.amazonaws.com/SimpleNotificationService-x.pem", "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-x.pem?x=1",
    "https://sns.eu-west-1.amazonaws.com\\.evil.example/SimpleNotificationService-x.pem", "https://sns.eu-west-1.amazonaws.com%2eevil.example/SimpleNotificationService-x.pem",
]):
    emit("sns-cert-url", "aws-sns", str(number), False, dict(secret=CERT, headers={}, body=sns(note, url=url)), {"reason": "malformed_signature"})
confirm = {"Type": "SubscriptionConfirmation", "MessageId": "m2", "TopicArn": note["TopicArn"], "Message": "You have chosen", "Timestamp": rfc3339(NOW), "Token": "t",
           "SubscribeURL": "https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&TopicArn=a&Token=t"}
emit("sns-confirm", "aws-sns", "good", True, dict(secret=CERT, headers={}, body=sns(confirm)), {"handshake": "sns_confirmation", "authenticated": True,
                                                                                           "confirm": confirm["SubscribeURL"]})
emit("sns-confirm", "aws-sns", "stale", False, dict(secret=CERT, headers={}, body=sns(confirm), timestamp=NOW + 3601), {"reason": "stale_timestamp"})
emit("sns-confirm", "aws-sns", "another-topic", False, dict(secret=CERT, headers={}, body=sns(confirm), topic_arn="x"), {"reason": "bad_signature"})
emit("sns-confirm", "aws-sns", "untrusted-url", False,
     dict(secret=CERT, headers={}, body=sns({**confirm, "SubscribeURL": "https://evil.example/?Action=ConfirmSubscription"})), {"reason": "malformed_signature"})

paypal_body = js({"id": "WH-1", "event_type": "PAYMENT.CAPTURE.COMPLETED", "create_time": rfc3339(NOW)})
paypal_text = f"t1|{rfc3339(NOW)}|HOOK1|{zlib.crc32(paypal_body.encode())}"
paypal = {"PAYPAL-TRANSMISSION-ID": "t1", "PAYPAL-TRANSMISSION-TIME": rfc3339(NOW), "PAYPAL-AUTH-ALGO": "SHA256withRSA",
          "PAYPAL-CERT-URL": "https://api.paypal.com/v1/notifications/certs/CERT-1",
          "PAYPAL-TRANSMISSION-SIG": b64(KEYS["rsa"].sign(paypal_text.encode(), padding.PKCS1v15(), hashes.SHA256()))}
good = dict(secret=CERT, headers=paypal, body=paypal_body, webhook_id="HOOK1")
emit("paypal", "paypal", "good", True, good, {"event_type": "PAYMENT.CAPTURE.COMPLETED", "external_id": "WH-1"})
emit("paypal", "paypal", "wrong-key", False, dict(good, secret=OTHER_CERT), {"reason": "bad_signature"})
emit("paypal", "paypal", "tampered-body", False, dict(good, body=paypal_body + " "), {"reason": "bad_signature"})
emit("paypal", "paypal", "another-webhook-id", False, dict(good, webhook_id="HOOK2"), {"reason": "bad_signature"})
emit("paypal", "paypal", "no-webhook-id-set", False, dict(good, webhook_id=None), {"reason": "not_configured"})
emit("paypal", "paypal", "untrusted-cert-url", False,
     dict(good, headers={**paypal, "PAYPAL-CERT-URL": "https://api.paypal.com.evil.example/v1/notifications/certs/c"}), {"reason": "malformed_signature"})
for header in ("PAYPAL-TRANSMISSION-ID", "PAYPAL-TRANSMISSION-TIME", "PAYPAL-TRANSMISSION-SIG", "PAYPAL-CERT-URL"):
    emit("paypal", "paypal", f"missing-{header.lower()}", False,
         dict(good, headers={key: value for key, value in paypal.items() if key != header}), {"reason": "missing_signature"})

# Adyen
adyen_key = hashlib.sha256(b"adyen").hexdigest()


def adyen(key, item):
    fields = [item.get("pspReference", ""), item.get("originalReference", ""), item["merchantAccountCode"], item["merchantReference"],
              item["amount"]["value"], item["amount"]["currency"], item["eventCode"], item["success"]]
    return {**item, "additionalData": {"hmacSignature": b64(mac(binascii.unhexlify(key), ":".join(map(str, fields))))}}


item = {"pspReference": "79", "merchantAccountCode": "M", "merchantReference": "r:1", "amount": {"value": 1130, "currency": "EUR"},
        "eventCode": "AUTHORISATION", "success": "true"}
wrap = lambda *items: js({"live": "false", "notificationItems": [{"NotificationRequestItem": one} for one in items]})
good = dict(secret=adyen_key, headers={}, body=wrap(adyen(adyen_key, item)))
emit("adyen", "adyen", "good", True, good, {"verified": False, "event_type": "AUTHORISATION", "external_id": "79:AUTHORISATION:true", "parts": 1})
emit("adyen", "adyen", "wrong-secret", False, dict(good, secret="00" * 32), {"reason": "bad_signature"})
emit("adyen", "adyen", "secret-not-hex", False, dict(good, secret="not hex"), {"reason": "not_configured"})
emit("adyen", "adyen", "tampered", False, dict(good, body=good["body"].replace("1130", "1131")), {"reason": "bad_signature"})
emit("adyen", "adyen", "two-items", True, dict(good, body=wrap(adyen(adyen_key, item), adyen(adyen_key, {**item, "pspReference": "80"}))), {"parts": 2})
emit("adyen", "adyen", "second-item-bad", False, dict(good, body=wrap(adyen(adyen_key, item), adyen("00" * 32, item))), {"reason": "bad_signature"})
emit("adyen", "adyen", "second-item-unsigned", False, dict(good, body=wrap(adyen(adyen_key, item), item)), {"reason": "bad_signature"})

# Mail by a Worker
worker_mail = "From: a@a.example\r\nTo: b@b.example\r\nSubject: s\r\n\r\nhello\r\n"


def worker(key, time, text, sender="a@a.example", recipient="b+tag@b.example"):
    return {"X-Postroom-Signature": "v1=" + mac(key, f"v1\n{time}\n{sender}\n{recipient}\n{text}").hex(), "X-Postroom-Timestamp": str(time),
            "X-Postroom-Mail-From": sender, "X-Postroom-Rcpt-To": recipient, "Content-Type": "message/rfc822"}, text


cases("cloudflare-email", "cloudflare-email", worker, "worker secret", "other",
      ["X-Postroom-Signature", "X-Postroom-Timestamp", "X-Postroom-Mail-From", "X-Postroom-Rcpt-To"], {"event_type": "message.received"},
      tolerance=300, body=worker_mail)
headers, _ = worker("worker secret", NOW, worker_mail)
emit("cloudflare-email", "cloudflare-email", "another-recipient", False,
     dict(secret="worker secret", body=worker_mail, headers={**headers, "X-Postroom-Rcpt-To": "c@b.example"}), {"reason": "bad_signature"})

# Handshakes
slack_body = js({"type": "url_verification", "token": "t", "challenge": "3eZbrw1a"})
slack_head = lambda body: {"X-Slack-Signature": "v0=" + mac("s", f"v0:{NOW}:{body}").hex(), "X-Slack-Request-Timestamp": str(NOW)}
emit("slack-challenge", "slack", "good", True, dict(secret="s", body=slack_body, headers=slack_head(slack_body)),
     {"handshake": "slack_challenge", "authenticated": True}, expected_response={"challenge": "3eZbrw1a"})
emit("slack-challenge", "slack", "forged", False, dict(secret="x", body=slack_body, headers=slack_head(slack_body)), {"reason": "bad_signature"})
emit("slack-challenge", "slack", "unsigned", False, dict(secret="s", body=slack_body, headers={}), {"reason": "missing_signature"})
for case, challenge in [("longest", "a" * 256), ("too-long", "a" * 257), ("not-ascii", "é"), ("line-break", "a\nb"), ("empty", "")]:
    body = js({"type": "url_verification", "challenge": challenge})
    emit("slack-challenge", "slack", case, case == "longest", dict(secret="s", body=body, headers=slack_head(body)),
         None if case == "longest" else {"reason": "malformed"})
meta = lambda query: dict(secret="verify me", body="", method="GET", headers={}, url="https://h.example/in/a?" + query)
emit("meta-challenge", "meta-whatsapp", "good", True, meta("hub.mode=subscribe&hub.verify_token=verify%20me&hub.challenge=1158201444"),
     {"handshake": "meta_challenge", "answer": "1158201444", "authenticated": True})
emit("meta-challenge", "meta-whatsapp", "wrong-token", False, meta("hub.mode=subscribe&hub.verify_token=x&hub.challenge=1"), {"reason": "bad_signature"})
emit("meta-challenge", "meta-whatsapp", "no-token", False, meta("hub.mode=subscribe&hub.challenge=1"), {"reason": "bad_signature"})
emit("meta-challenge", "meta-whatsapp", "plain-get", False, meta("a=b"), {"reason": "unsupported_source"})
zoom_token = "qgg8vlvZRS6UYooatFL8Aw"
zoom_body = lambda text: js({"event": "endpoint.url_validation", "payload": {"plainToken": text}, "event_ts": NOW * 1000})
zoom_good = {"plainToken": zoom_token, "encryptedToken": mac("s", zoom_token).hex()}
emit("zoom-validation", "zoom", "unsigned", True, dict(secret="s", body=zoom_body(zoom_token), headers={}), {"handshake": "zoom_validation"},
     expected_response=zoom_good)
emit("zoom-validation", "zoom", "signed", True, dict(secret="s", body=zoom_body(zoom_token), headers={
    "x-zm-signature": "v0=" + mac("s", v0(NOW, zoom_body(zoom_token))).hex(), "x-zm-request-timestamp": str(NOW)}),
    {"handshake": "zoom_validation", "authenticated": True}, expected_response=zoom_good)
emit("zoom-validation", "zoom", "badly-signed", False, dict(secret="s", body=zoom_body(zoom_token), headers={
    "x-zm-signature": "v0=" + "0" * 64, "x-zm-request-timestamp": str(NOW)}), {"reason": "bad_signature"})
# The answer must not sign an event for whoever asks.
emit("zoom-validation", "zoom", "oracle", False, dict(secret="s", body=zoom_body(f"v0:{NOW}:{{}}"), headers={}), {"reason": "malformed"})
emit("zoom-validation", "zoom", "no-secret", False, dict(secret="", body=zoom_body(zoom_token), headers={}), {"reason": "not_configured"})
emit("notion-token", "notion", "good", True, dict(secret="", body=js({"verification_token": "secret_abc"}), headers={}),
     {"handshake": "notion_token", "offered": "secret_abc", "authenticated": False})
emit("notion-token", "notion", "with-more", False, dict(secret="s", body=js({"verification_token": "a", "type": "b"}), headers={}), {"reason": "missing_signature"})
emit("asana-secret", "asana", "good", True, dict(secret="", body="{}", headers={"X-Hook-Secret": "b537207f20cbfa02357cf448134da559"}),
     {"handshake": "asana_secret", "offered": "b537207f20cbfa02357cf448134da559", "authenticated": False})
graph = lambda query, body="": dict(secret="s", body=body, headers={}, method="POST", url="https://h.example/in/a?" + query)
emit("graph-validation", "microsoft-graph", "good", True, graph("validationToken=Validation%3A%20Testing%20%3Cb%3E"),
     {"handshake": "graph_validation", "answer": "Validation: Testing <b>"})
emit("graph-validation", "microsoft-graph", "with-a-body", False, graph("validationToken=a", "{}"), {"reason": "missing_signature"})
emit("graph-validation", "microsoft-graph", "not-printable", False, graph("validationToken=a%0Ab"), {"reason": "missing_signature"})
emit("dropbox-challenge", "dropbox", "good", True, dict(secret="s", body="", method="GET", headers={}, url="https://h.example/in/a?challenge=abc"),
     {"handshake": "dropbox_challenge", "answer": "abc"})
emit("okta-challenge", "okta", "good", True, dict(secret="s", body="", method="GET", headers={"X-Okta-Verification-Challenge": "abc"}),
     {"handshake": "okta_challenge"}, expected_response={"verification": "abc"})
emit("intercom-probe", "intercom", "good", True, dict(secret="s", body="", method="HEAD", headers={}), {"handshake": "head_probe"})
emit("github", "github", "get", False, dict(secret="s", body="", method="GET", headers={}), {"reason": "unsupported_source"})
twitch_body = js({"challenge": "pogchamp", "subscription": {"type": "a"}})
twitch = {"Twitch-Eventsub-Message-Id": "m", "Twitch-Eventsub-Message-Timestamp": rfc3339(NOW), "Twitch-Eventsub-Message-Type": "webhook_callback_verification",
          "Twitch-Eventsub-Message-Signature": "sha256=" + mac("s", "m" + rfc3339(NOW) + twitch_body).hex()}
emit("twitch-challenge", "twitch", "good", True, dict(secret="s", body=twitch_body, headers=twitch), {"handshake": "twitch_challenge", "answer": "pogchamp"})
emit("twitch-challenge", "twitch", "forged", False, dict(secret="x", body=twitch_body, headers=twitch), {"reason": "bad_signature"})

ids = [entry["id"] for entry in out]
assert len(ids) == len(set(ids)), [one for one in ids if ids.count(one) > 1]
lines = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in out)
(HERE / "vectors.json").write_text('{"vectors": [\n' + lines + "\n]}\n")
print(len(out), "vectors of", len({entry["provider"] for entry in out}), "providers")
