/** Writes what happens for a person to read: numbered steps, and lines under them. */
export class Story {
  #step = 0

  constructor(private readonly write: (line: string) => void) {}

  title(text: string): void {
    this.write('')
    this.write(`  ${text}`)
  }

  step(text: string): void {
    this.#step += 1
    this.write('')
    this.write(`  ${this.#step}. ${text}`)
  }

  say(text: string): void {
    this.write(`     ${text}`)
  }
}

/** Lovelace as ADA, such as `9,899.831859 ADA`. */
export function ada(lovelace: bigint): string {
  const whole = (lovelace / 1_000_000n).toLocaleString('en-US')
  const rest = String(lovelace % 1_000_000n)
    .padStart(6, '0')
    .replace(/0+$/, '')
  return `${whole}${rest === '' ? '' : `.${rest}`} ADA`
}

/** The two ends of something long. */
export function short(text: string): string {
  return text.length > 30 ? `${text.slice(0, 20)}…${text.slice(-6)}` : text
}
