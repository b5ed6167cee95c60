// What a person reads: numbered steps, and lines under them.

let steps = 0

export function title(text) {
  console.log(`\n  ${text}`)
}

export function step(text) {
  steps += 1
  console.log(`\n  ${steps}. ${text}`)
}

export function say(text) {
  console.log(`     ${text}`)
}

/** Lovelace as ADA, such as `9,899.831859 ADA`. */
export function ada(lovelace) {
  const whole = (lovelace / 1_000_000n).toLocaleString('en-US')
  const rest = String(lovelace % 1_000_000n)
    .padStart(6, '0')
    .replace(/0+$/, '')
  return `${whole}${rest === '' ? '' : `.${rest}`} ADA`
}

/** The two ends of a long text. */
export function short(text) {
  return text.length > 30 ? `${text.slice(0, 20)}…${text.slice(-6)}` : text
}
