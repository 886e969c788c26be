// The address of your companiond server, and the companion's embed token. Both are public.
export const baseUrl = "http://127.0.0.1:3000";
export const token = "emb_…";
