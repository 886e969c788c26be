/** Responses of the lists over all companions: those of one, with the companion's id. */
import { type Static, Type as t } from "@sinclair/typebox";
import { closedObject } from "../../http/schemas/named-object.ts";
import { SourceObject, UnansweredObject } from "./responses.ts";

const makeId = () => ({ companion_id: t.String({ format: "uuid" }) });

export const AccountQuestionObject = closedObject("AccountQuestion", () => ({
  ...makeId(),
  ...UnansweredObject.properties,
}));
export type AccountQuestion = Static<typeof AccountQuestionObject>;

export const AccountSourceObject = closedObject("AccountSource", () => ({ ...makeId(), ...SourceObject.properties }));
export type AccountSource = Static<typeof AccountSourceObject>;
