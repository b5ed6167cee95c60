/** Lovelace as ada, such as `9,899.831859 ada`. */
export function ada(lovelace: bigint | string): string {
  const amount = BigInt(lovelace)
  const fraction = String(amount % 1_000_000n)
    .padStart(6, '0')
    .replace(/0+$/, '')
  return `${(amount / 1_000_000n).toLocaleString('en-US')}${fraction === '' ? '' : `.${fraction}`} ada`
}
