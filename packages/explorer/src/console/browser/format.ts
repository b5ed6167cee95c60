/** The beginning and the end of a long name. */
export function short(name: string): string {
  return name.length <= 18 ? name : `${name.slice(0, 8)}…${name.slice(-6)}`
}

/** Lovelace in ada, exactly. */
export function ada(lovelace: string): string {
  const digits = lovelace.padStart(7, '0')
  const fraction = digits.slice(-6).replace(/0+$/, '')
  const whole = grouped(digits.slice(0, -6))
  return fraction === '' ? whole : `${whole}.${fraction}`
}

/** A whole number with its thousands apart. */
export function grouped(number: number | string): string {
  return String(number).replace(/\B(?=(\d{3})+$)/g, '\u202f')
}

/** A number of things, such as "1 block". */
export function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`
}

/** Bytes in the largest unit that leaves a whole number before the point. */
export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}

/** A duration in milliseconds, with the precision that people read. */
export function duration(ms: number): string {
  if (ms < 0) return '0 s'
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`
  if (ms < 120_000) return `${Math.round(ms / 1000)} s`
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`
  return ms < 172_800_000 ? `${Math.round(ms / 3_600_000)} h` : `${Math.round(ms / 86_400_000)} d`
}

export function clockTime(iso: string, now: number): string {
  const time = new Date(iso)
  const isToday = time.toDateString() === new Date(now).toDateString()
  return isToday ? time.toLocaleTimeString() : time.toLocaleString()
}

/** Characters of JSON that are shown. */
const maxJson = 100_000

/** JSON on one line, the beginning of it if it is long; undefined is what the node did not answer. */
export function jsonText(json: unknown): string {
  if (json === undefined) return 'too large to show'
  const text = JSON.stringify(json)
  return text.length <= maxJson ? text : `${text.slice(0, maxJson)}… (${size(text.length)} in all)`
}
