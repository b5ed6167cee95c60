import { AnswerError, read } from './api.js'
import { ada, grouped } from './format.js'
import { Name } from './parts.js'
import { serves } from './router.js'

/** Blockfrost's API of layer 2, as of everything that is accepted. */
export const layer2 = 'l2/blockfrost/api/v0'

/** A quantity of ada or of another asset. */
export interface UnitAmount {
  readonly unit: string
  readonly quantity: string
}

/** Assets that are shown of one list. */
const most = 50

/** Lovelace of an address on layer 2; 0 if it never had any, undefined if the node does not say it. */
export async function lovelaceOf(address: string): Promise<string | undefined> {
  if (!serves('GET /l2/blockfrost/api/v0/addresses/*')) return undefined
  try {
    const { amount } = await read<{ amount: readonly UnitAmount[] }>(
      `${layer2}/addresses/${encodeURIComponent(address)}`,
    )
    return amount.find(({ unit }) => unit === 'lovelace')?.quantity ?? '0'
  } catch (error) {
    if (error instanceof AnswerError && error.status === 404) return '0'
    throw error
  }
}

/** A quantity with its sign, if it is a change. */
function quantityText({ unit, quantity }: UnitAmount): string {
  const digits = quantity.replace('-', '')
  const sign = quantity.startsWith('-') ? '−' : ''
  return sign + (unit === 'lovelace' ? `${ada(digits)} ₳` : grouped(digits))
}

/** Amounts, one in a line, at most 50. */
export function Amounts({
  amounts,
  isChange = false,
}: {
  amounts: readonly UnitAmount[]
  isChange?: boolean
}) {
  return (
    <>
      {amounts.slice(0, most).map((amount) => (
        <span key={amount.unit} class={isChange ? (amount.quantity.startsWith('-') ? 'loss' : 'gain') : ''}>
          {isChange && !amount.quantity.startsWith('-') && '+'}
          {quantityText(amount)} {amount.unit !== 'lovelace' && <Name name={amount.unit} page="asset" />}{' '}
        </span>
      ))}
      {amounts.length > most && <span class="dim">and {grouped(amounts.length - most)} more assets</span>}
    </>
  )
}
