/** 9999-12-31T23:59:59.999Z, the last time of ISO 8601 with a year of four digits. */
const lastTime = 253_402_300_799_999n

/** A time of layer 1, which is any number of milliseconds, in ISO 8601. */
export function timeOf(milliseconds: bigint): string {
  const time = milliseconds < 0n ? 0n : milliseconds > lastTime ? lastTime : milliseconds
  return new Date(Number(time)).toISOString()
}
