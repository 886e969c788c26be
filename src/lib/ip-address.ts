/** Parses and formats IP addresses as eight 16-bit groups. Allocates nothing, since it runs on every request. */

/** 0 means "not an address". */
export type IpVersion = 0 | 4 | 6;

/**
 * Parses `text` from `start` to `end` into `groups` (eight of them) and returns the version. IPv4 becomes
 * `::ffff:a.b.c.d`, and IPv6 text of that form counts as IPv4. Strict: no leading zeros in IPv4, no zone, no port.
 */
export function readIp(text: string, start: number, end: number, groups: Uint16Array): IpVersion {
  if (readGroups(text, start, end, groups)) return isMapped(groups) ? 4 : 6;
  const address = readIpv4(text, start, end);
  if (address < 0) return 0;
  groups.fill(0, 0, 5);
  groups[5] = 0xffff;
  groups[6] = address >>> 16;
  groups[7] = address & 0xffff;
  return 4;
}

/** The address as a number from 0 to 2^32 - 1, or -1. Leading zeros are refused: some parsers read them as octal. */
export function readIpv4(text: string, start: number, end: number): number {
  let address = 0;
  let octet = -1;
  let dots = 0;
  for (let i = start; i < end; i++) {
    const code = text.charCodeAt(i);
    if (code === dot) {
      if (octet < 0 || ++dots > 3) return -1;
      address = address * 256 + octet;
      octet = -1;
    } else {
      const digit = code - 48;
      if (digit < 0 || digit > 9 || octet === 0) return -1;
      octet = octet < 0 ? digit : octet * 10 + digit;
      if (octet > 255) return -1;
    }
  }
  return dots === 3 && octet >= 0 ? address * 256 + octet : -1;
}

/** Formats the last two groups as four octets. */
export function formatIpv4(groups: Uint16Array): string {
  const high = groups[6] ?? 0;
  const low = groups[7] ?? 0;
  return `${high >>> 8}.${high & 0xff}.${low >>> 8}.${low & 0xff}`;
}

/** The first `kept` groups, the rest as zeros, in the canonical form of RFC 5952. */
export function formatIpv6(groups: Uint16Array, kept = 8): string {
  let gapStart = 8;
  let gapLength = 1; // a single zero group is not shortened
  for (let i = 0; i < 8; i++) {
    let length = 0;
    while (i + length < 8 && groupAt(groups, i + length, kept) === 0) length++;
    if (length > gapLength) {
      gapStart = i;
      gapLength = length;
    }
    i += length;
  }
  let text = "";
  for (let i = 0; i < 8; i++) {
    if (i === gapStart) {
      text += "::";
      i += gapLength - 1;
    } else {
      if (i > 0 && i !== gapStart + gapLength) text += ":";
      text += groupAt(groups, i, kept).toString(16);
    }
  }
  return text;
}

/**
 * Whether the address can only belong to this machine or its own network: loopback, private, link-local or carrier NAT.
 */
export function isPrivateIp(version: IpVersion, groups: Uint16Array): boolean {
  if (version === 4) {
    const high = groups[6] ?? 0;
    const first = high >>> 8;
    return (
      first === 127 ||
      first === 10 ||
      high === 0xc0a8 ||
      high === 0xa9fe ||
      (high & 0xfff0) === 0xac10 ||
      (high & 0xffc0) === 0x6440
    );
  }
  if (version === 0) return false;
  const first = groups[0] ?? 0;
  if ((first & 0xfe00) === 0xfc00 || (first & 0xffc0) === 0xfe80) return true;
  return groups[7] === 1 && areZero(groups, 7);
}

const dot = 46;
const colon = 58;

function readGroups(text: string, start: number, end: number, groups: Uint16Array): boolean {
  let count = 0;
  let gap = -1;
  let i = start;
  if (i < end && text.charCodeAt(i) === colon) {
    if (i + 1 >= end || text.charCodeAt(i + 1) !== colon) return false;
    gap = 0;
    i += 2;
  }
  while (i < end) {
    const groupStart = i;
    let value = 0;
    for (let digit = hexAt(text, i, end); digit >= 0; digit = hexAt(text, i, end)) {
      if (++i - groupStart > 4) return false;
      value = value * 16 + digit;
    }
    if (count === 8 || i === groupStart) return false;
    if (i < end && text.charCodeAt(i) === dot) {
      // Plain IPv4 also gets here: it is not a valid group.
      const tail = count > 6 || groupStart === start ? -1 : readIpv4(text, groupStart, end);
      if (tail < 0) return false;
      groups[count++] = tail >>> 16;
      groups[count++] = tail & 0xffff;
      break;
    }
    groups[count++] = value;
    if (i === end) break;
    if (text.charCodeAt(i) !== colon || ++i === end) return false;
    if (text.charCodeAt(i) === colon) {
      if (gap >= 0) return false;
      gap = count;
      i++;
    }
  }
  if (gap < 0) return count === 8;
  if (count === 8) return false;
  groups.copyWithin(8 - count + gap, gap, count);
  groups.fill(0, gap, 8 - count + gap);
  return true;
}

function hexAt(text: string, index: number, end: number): number {
  if (index >= end) return -1;
  const code = text.charCodeAt(index);
  if (code >= 48 && code <= 57) return code - 48;
  const letter = code | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

function isMapped(groups: Uint16Array): boolean {
  return groups[5] === 0xffff && areZero(groups, 5);
}

function areZero(groups: Uint16Array, count: number): boolean {
  for (let i = 0; i < count; i++) if (groups[i] !== 0) return false;
  return true;
}

function groupAt(groups: Uint16Array, index: number, kept: number): number {
  return index < kept ? (groups[index] ?? 0) : 0;
}
