import type { ExplorerBlockDetails } from '@ratatosk/client'
import { grouped, size } from '../format.js'
import { go } from '../router.js'
import { treemap } from '../treemap.js'

const box = { x: 0, y: 0, width: 1000, height: 200 }

/**
 * The transactions of a part of a block, with areas as their bytes. The table of the same part is for those
 * who use a keyboard or cannot see it.
 */
export function BlockMap({ transactions, offset }: Pick<ExplorerBlockDetails, 'transactions' | 'offset'>) {
  if (transactions.length < 2) return null
  const areas = treemap(
    transactions.map(({ bytes }) => bytes),
    box,
  )
  const sum = transactions.reduce((total, { bytes }) => total + bytes, 0)
  return (
    <figure>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the table has a link for each, which keys reach */}
      <svg
        id="map"
        class="map"
        viewBox="0 0 1000 200"
        preserveAspectRatio="none"
        role="img"
        aria-label="Bytes of each transaction"
        onClick={({ target }) => {
          const hash = target instanceof SVGElement ? target.dataset.hash : undefined
          if (hash !== undefined) go('tx', hash)
        }}
      >
        {transactions.map(({ hash, bytes, redeemers, valid }, place) => (
          <rect
            key={hash}
            class={valid ? (redeemers > 0 ? 'scripts' : '') : 'failed'}
            data-hash={hash}
            data-bytes={bytes}
            {...areas[place]}
          >
            <title>{`${grouped(offset + place)}: ${hash}, ${size(bytes)}`}</title>
          </rect>
        ))}
      </svg>
      <figcaption>
        Transactions {grouped(offset)} to {grouped(offset + transactions.length - 1)} by their bytes,{' '}
        {size(sum)} together
        {transactions.some(({ redeemers }) => redeemers > 0) && '; green ones run scripts'}
      </figcaption>
    </figure>
  )
}
