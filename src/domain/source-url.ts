/** Addresses of sources, as owners write them. Whether one leads to a public address is found out when it is fetched. */

export const maxSourceUrlLength = 2_000;
export const sourceUrlProblem = `Must be an http or https URL without user and password, of at most ${maxSourceUrlLength} characters.`;

export function isSourceUrl(text: string): boolean {
  if (text.length > maxSourceUrlLength || !/^https?:\/\/[^\s\\]+$/i.test(text)) return false;
  if (!URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === "" && password === "";
}
