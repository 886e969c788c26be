"""A receiver of tool calls, with nothing but Python: checks the signature, carries out each call once, and responds."""

import base64
import hashlib
import hmac
import json
import os
import re
import threading
import time
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# Two while a secret is being replaced: the old one and the new one.
SECRETS = os.environ.get("TOOL_SECRETS", "").split()
KEYS = [base64.b64decode(secret.removeprefix("whsec_")) for secret in SECRETS]
MAX_BODY_BYTES = 256 * 1024
MAX_AGE_SECONDS = 300

# Stands in for your database.
ORDERS = {
    "471100": {"customer": "user-42", "state": "packed"},
    "471101": {"customer": "user-7", "state": "sent"},
}


def find_order(arguments, visitor):
    order = ORDERS.get(arguments.get("number"))
    return {"found": False} if order is None else {"found": True, "state": order["state"]}


def cancel_order(arguments, visitor):
    # Who may do what is decided here, by `visitor` alone: the arguments are the model's, and may be anyone's words.
    order = ORDERS.get(arguments.get("number"))
    # The same answer for an order that does not exist and one that belongs to someone else.
    if not visitor["verified"] or order is None or order["customer"] != visitor["sub"]:
        return {"cancelled": False, "why": "No such order of yours."}
    if order["state"] == "sent":
        return {"cancelled": False, "why": "It has been sent already."}
    order["state"] = "cancelled"
    return {"cancelled": True}


TOOLS = {"find_order": find_order, "cancel_order": cancel_order}


def is_signed(headers, body):
    call_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    if not re.fullmatch("[0-9]{1,12}", timestamp) or abs(time.time() - int(timestamp)) > MAX_AGE_SECONDS:
        return False
    content = f"{call_id}.{timestamp}.".encode() + body
    given = headers.get("webhook-signature", "").split()
    for key in KEYS:
        digest = hmac.new(key, content, hashlib.sha256).digest()
        expected = b"v1," + base64.b64encode(digest)
        if any(hmac.compare_digest(one.encode(), expected) for one in given):
            return True
    return False


# By call id: a call that arrives again is the same call. Keep these in your database, in the transaction that carries out the call.
ANSWERS = {}
LOCK = threading.Lock()


def answer(data):
    with LOCK:
        call_id = data["call_id"]
        if call_id not in ANSWERS:
            tool = TOOLS.get(data["tool"])
            ANSWERS[call_id] = None if tool is None else tool(data["arguments"], data["visitor"])
            if len(ANSWERS) > 10_000:
                del ANSWERS[next(iter(ANSWERS))]
        return ANSWERS[call_id]


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        length = self.headers.get("content-length", "")
        if not re.fullmatch("[0-9]{1,9}", length) or int(length) > MAX_BODY_BYTES:
            return self.send(401, {})
        body = self.rfile.read(int(length))
        if not is_signed(self.headers, body):
            return self.send(401, {})
        try:
            call = json.loads(body)
            result = answer(call["data"]) if call["type"] == "tool.call" else None
        except Exception:
            traceback.print_exc()
            return self.send(500, {})
        self.send(404 if result is None else 200, result or {})

    def send(self, status, result):
        text = json.dumps(result).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format, *args):
        pass


if __name__ == "__main__":
    if not KEYS:
        raise SystemExit("Set TOOL_SECRETS to the secrets that companiond showed.")
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8090"))), Receiver)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
