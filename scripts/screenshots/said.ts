/** What the visitors of the pictures ask, and what they get to read. */

export interface Asked {
  /** The name in their visitor token; without one they are anonymous. */
  visitor?: string;
  said: string[];
  rating?: "up" | "down";
  contact?: boolean;
}

export const questions: readonly Asked[] = [
  { said: ["When are you open on Saturdays?"], rating: "up" },
  { said: ["Do you repair e-bikes?", "And what does an inspection cost?"], contact: true },
  { visitor: "Hannah Weiss", said: ["Where is my order 4711?"] },
  { said: ["Can I lend a cargo bicycle for a weekend?"], rating: "down" },
  { visitor: "Amir Haddad", said: ["هل يمكنني إرجاع الدراجة؟"] },
  { said: ["Which lock do you recommend for a city bicycle that stands outside every night?"] },
  { visitor: "Maria Gómez", said: ["How do returns work?", "How long does shipping take?", "Show me the API"] },
  { said: ["Is there a discount for students?"], contact: true },
];

/** So that most of it is found, and a few questions are not, as in life. */
export const furtherSources = [
  {
    title: "Shipping and orders",
    text: "How long does shipping take? Standard shipping takes two to three working days. To see where an order is, ask with its number.",
  },
  {
    title: "Workshop: repairs and inspections",
    text: "We repair bicycles and e-bikes of every make. An inspection takes an hour and costs 49 €, parts not included.",
  },
  { title: "Cargo bicycles to lend", text: "You can lend a cargo bicycle for a day or a weekend, from 25 € a day." },
  {
    title: "API for returns",
    text: "Show me the API: POST /v1/returns registers a return by the number of its order.",
  },
  { title: "الإرجاع", text: "هل يمكنني إرجاع الدراجة؟ نعم، يمكنك إرجاع الدراجة خلال 30 يومًا." },
] as const;

const rich = `## How returns work

You can send **most items** back within *30 days*. In short:

1. Sign in and open **Orders**
2. Choose *Return an item*
   - pick a reason
   - pick a refund to card or voucher
3. Print the label, or show the QR code at the counter

### What it costs

| Country | Carrier | Days | Cost | Insured up to | Pick-up |
|---|---|---:|---:|---:|---|
| Germany | DHL | 2–3 | free | 500 € | yes |
| Austria | Post AG | 3–4 | free | 500 € | yes |
| Switzerland | Swiss Post | 4–5 | 6.90 CHF | 300 CHF | no |
| United Kingdom | Royal Mail | 5–8 | £ 7.50 | £ 250 | no |

> Opened software and made-to-measure goods cannot be returned.

- [x] label printed
- [ ] parcel dropped off

Use \`GET /v1/returns/{id}\` to follow it. More at [our help pages](https://shop.example/help).`;

const code = `With the API:

\`\`\`ts
const response = await fetch("https://shop.example/v1/returns", {
  method: "POST",
  headers: { "content-type": "application/json", authorization: "Bearer …" },
  body: JSON.stringify({ order: 4711, items: [1, 2], reason: "too small" }),
});
\`\`\`

Anything else I can look up for you?`;

export function answerTo(question: string): string {
  if (/returns/i.test(question)) return rich;
  if (/API/.test(question)) return code;
  if (/shipping/i.test(question))
    return "Standard shipping takes **two to three working days** within Germany. Express parcels leave the same day if you order before 2 pm.";
  if (/open/i.test(question)) return "On Saturdays we are open from **9 to 14**. On weekdays until 18.";
  if (/order/i.test(question))
    return "Your order 4711 left our warehouse yesterday and should arrive **tomorrow before noon**.";
  if (/[\u0600-\u06ff]/.test(question)) return "نعم، يمكنك إرجاعها خلال **30 يومًا**.";
  return "Gladly! Bring your bicycle to our workshop: an inspection takes an hour and costs **49 €**, parts not included.";
}
