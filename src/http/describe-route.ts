/** Turns a defined route into an operation of the API document. */
import type { ApiOperation } from "./api-description.ts";
import { schemasOf } from "./query.ts";
import type { Route } from "./route.ts";

export function describeRoute(route: Route): ApiOperation {
  const { id, method, path, tag, summary, access, body, isIdempotent } = route;
  const { description, params, bodyExample, query: ownQuery, responses, errors } = route.document();
  const parts = Object.values(route.query);
  const query = Object.assign({}, ...parts.map(schemasOf), ownQuery);
  return {
    ...{ id, method, path: path.replace("*}", "}"), tag, summary, access, query, answers: responses },
    ...(description === undefined ? {} : { description }),
    ...(params === undefined ? {} : { params }),
    ...(parts.some((part) => part.takesMetadata) ? { takesMetadata: true } : {}),
    ...(body === null
      ? {}
      : {
          body: {
            schema: body.checker.schema,
            ...(body.isOptional ? { isOptional: true } : {}),
            ...(bodyExample === undefined ? {} : { example: bodyExample }),
          },
        }),
    ...(isIdempotent ? { isIdempotent: true } : {}),
    ...(errors === undefined ? {} : { errors }),
  };
}
