/** Fields that accept only some texts: others are refused by field name; accepted ones are stored and harm no page. */
import type { PayloadNotes } from "./injection-notes.ts";
import { listFrameFaults } from "./injection-pages.ts";
import type { InjectionWorld } from "./injection-world.ts";

export async function tryPickyFields(
  { key, operator, world, shapes }: InjectionWorld,
  notes: PayloadNotes,
  companion: { id: string; token: string },
): Promise<void> {
  const text = notes.payload;
  const path = `/api/companions/${companion.id}`;
  const picky: [string, unknown][] = [
    ["avatar_url", text],
    ["avatar_url", `https://shop.example/${text}`],
    ["avatar_url", `https://${text}`],
    ["theme_color", text],
    ["model", text],
    ["allowed_origins", [text]],
    ["allowed_origins", [`https://${text}`]],
  ];
  for (const [name, value] of picky) {
    const response = await key.send({ method: "PATCH", path, body: { [name]: value } });
    notes.accept(name, response);
    if (response.status !== 200) continue;
    // Origins are stored in a normal form.
    if (name === "avatar_url") notes.equal(name, response.json[name], value);
    for (const fault of await listFrameFaults(world.url, companion.token, shapes)) notes.changedPage(fault);
  }
  for (const email of [text, `${text}@shop.example`, `a@${text}`]) {
    const response = await operator.send({ method: "POST", path: "/api/accounts", body: { email } });
    notes.accept("email", response);
    if (response.status === 201) notes.equal("email", response.json.email, email.trim().toLowerCase());
  }
}
