import { grouped, jsonText } from '../format.js'
import { layer2 } from '../ledger.js'
import { Paged } from '../paged.js'
import { Empty, Load, Name, Text } from '../parts.js'

interface Minted {
  readonly policy_id: string
  readonly asset_name: string | null
  readonly quantity: string
  readonly initial_mint_tx_hash: string
  readonly mint_or_burn_count: number
  readonly onchain_metadata: unknown
}

interface Holding {
  readonly address: string
  readonly quantity: string
}

/** An asset on layer 2: how much there is of it, and who holds it. */
export function Asset({ unit }: { readonly unit: string }) {
  const path = `${layer2}/assets/${encodeURIComponent(unit)}`
  return (
    <>
      <section>
        <h2>
          Asset <Name name={unit} />
        </h2>
        <Load<Minted>
          path={path}
          show={(minted) => (
            <>
              <dl class="facts">
                <dt>Name</dt>
                <dd id="name">{nameText(minted.asset_name ?? '')}</dd>
                <dt>Policy</dt>
                <dd>
                  <Name name={minted.policy_id} />
                </dd>
                <dt>Quantity</dt>
                <dd id="quantity">{grouped(minted.quantity)}</dd>
                <dt>Mints and burns</dt>
                <dd>{grouped(minted.mint_or_burn_count)}</dd>
                <dt>First minted by</dt>
                <dd>
                  <Name name={minted.initial_mint_tx_hash} page="tx" />
                </dd>
              </dl>
              {minted.onchain_metadata !== null && <Text>{jsonText(minted.onchain_metadata)}</Text>}
            </>
          )}
          otherwise={() => <Empty>No accepted transaction has minted this asset.</Empty>}
        />
      </section>
      <section>
        <h2>Holders</h2>
        <Paged<Holding>
          path={`${path}/addresses?order=asc`}
          pageSize={20}
          id="holders"
          end="Nobody holds more of it."
          show={({ address, quantity }) => (
            <li key={address} data-holder={address}>
              <Name name={address} page="address" />
              <span class="end">{grouped(quantity)}</span>
            </li>
          )}
        />
      </section>
    </>
  )
}

/** A name as text if it is text, and in hex. */
function nameText(hex: string): string {
  if (hex === '') return 'none: the policy alone names it'
  const bytes = Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return /^[\p{L}\p{N}\p{P}\p{S} ]+$/u.test(text) ? `${text} (${hex})` : hex
  } catch {
    return hex
  }
}
