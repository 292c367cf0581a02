// Deliveries signed by the libraries that senders publish: a running server takes each as it is, knows it
// again the second time, and refuses it with one byte changed.
import { createHmac } from "node:crypto";
import { parseArgs } from "node:util";
import { Webhooks } from "@octokit/webhooks";
import { Webhook as StandardWebhook } from "standardwebhooks";
import Stripe from "stripe";
import { Webhook as Svix } from "svix";
import twilio from "twilio";
import { check } from "./visit.mjs";

const { values } = parseArgs({ options: { url: { type: "string" }, key: { type: "string" } } });
const now = () => Math.floor(Date.now() / 1000);
const random = () => createHmac("sha256", String(process.hrtime.bigint())).update("x").digest("base64");
const whsec = `whsec_${random()}`;
const json = { "content-type": "application/json" };

/** Asks the server for a source, with the secret that its sender would have issued. */
async function source(source_type, signing_secret) {
  const body = { source_type, target_queue: "senders", ...(signing_secret && { signing_secret }) };
  if (source_type === "github") body.trusted_actors = { allow_all: true };
  const answer = await fetch(`${values.url.replace(/\/$/, "")}/v1/sources`, {
    method: "POST",
    headers: { ...json, authorization: `Bearer ${values.key}` },
    body: JSON.stringify(body),
  });
  const made = await answer.json();
  check(answer.status === 201, `${source_type}: no source: ${JSON.stringify(made)}`);
  return { url: made.ingest_url, secret: made.signing_secret ?? signing_secret };
}

/** One delivery of each sender: where it goes, its headers and its body. */
const senders = {
  async github() {
    const { url, secret } = await source("github");
    const body = JSON.stringify({ action: "opened", issue: { number: 7, title: "É — \u2028 ☃" } });
    const signature = await new Webhooks({ secret }).sign(body);
    const headers = { ...json, "x-hub-signature-256": signature, "x-github-event": "issues" };
    return { url, body, headers: { ...headers, "x-github-delivery": crypto.randomUUID() } };
  },
  async stripe() {
    const { url, secret } = await source("stripe", "whsec_of_the_tests_0123456789");
    const body = JSON.stringify({ id: `evt_${now()}`, type: "invoice.paid", data: {} });
    const stripe = new Stripe("sk_test_none");
    const header = stripe.webhooks.generateTestHeaderString({ payload: body, secret });
    return { url, body, headers: { ...json, "stripe-signature": header } };
  },
  async svix() {
    const { url } = await source("svix", whsec);
    const body = JSON.stringify({ type: "user.created" });
    const id = `msg_${process.hrtime.bigint()}`;
    const signature = new Svix(whsec).sign(id, new Date(now() * 1000), body);
    const headers = { ...json, "svix-id": id, "svix-timestamp": String(now()) };
    return { url, body, headers: { ...headers, "svix-signature": signature } };
  },
  async "standard-webhooks"() {
    const { url, secret } = await source("standard-webhooks", whsec).catch(() => source("standard-webhooks"));
    const body = JSON.stringify({ type: "contact.created" });
    const id = `msg_${process.hrtime.bigint()}`;
    const signature = new StandardWebhook(secret).sign(id, new Date(now() * 1000), body);
    const headers = { ...json, "webhook-id": id, "webhook-timestamp": String(now()) };
    return { url, body, headers: { ...headers, "webhook-signature": signature } };
  },
  async twilio() {
    const { url, secret } = await source("twilio", "0123456789abcdef0123456789abcdef");
    const fields = { MessageSid: `SM${now()}`, From: "+15550001", To: "+15550002", Body: "héllo & bye" };
    const signature = twilio.getExpectedTwilioSignature
      ? twilio.getExpectedTwilioSignature(secret, url, fields)
      : createHmac("sha1", secret)
          .update(url + Object.keys(fields).sort().map((name) => name + fields[name]).join(""))
          .digest("base64");
    check(twilio.validateRequest(secret, signature, url, fields), "twilio's own check refuses it");
    const headers = { "content-type": "application/x-www-form-urlencoded", "x-twilio-signature": signature };
    return { url, body: new URLSearchParams(fields).toString(), headers };
  },
};

for (const [name, delivery] of Object.entries(senders)) {
  const { url, headers, body } = await delivery();
  const post = (sent) => fetch(url, { method: "POST", headers, body: sent });
  const first = await post(body);
  check(first.ok, `${name}: a signed delivery was answered ${first.status}: ${await first.text()}`);
  const again = await post(body);
  check(again.ok, `${name}: the same delivery again was answered ${again.status}`);
  const changed = await post(`${body.slice(0, -2)}X${body.slice(-1)}`);
  check(changed.status === 401, `${name}: a changed delivery was answered ${changed.status}, not 401`);
  console.log(`${name}: ${first.status}, again ${again.status}, changed ${changed.status}`);
}
