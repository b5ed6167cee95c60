import type { BridgeDeposits } from '@ratatosk/client'
import type { ComponentChildren } from 'preact'
import { Load, State } from './parts.js'
import { link } from './router.js'
import { bridge } from './routes.js'

interface DepositedProps {
  readonly id: string
  /** The text for an id that no deposit has. */
  readonly otherwise: ComponentChildren
}

/** Says what an id names that no transaction has, if it is that of a deposit from layer 1. */
export function Deposited({ id, otherwise }: DepositedProps) {
  if (bridge.value === undefined) return <>{otherwise}</>
  return (
    <Load<BridgeDeposits>
      path={`deposits?id=${id}`}
      isSlow
      isFinal={({ deposits: [found] }) => found?.state === 'merged'}
      show={({ deposits: [found] }) =>
        found === undefined ? (
          otherwise
        ) : (
          <span data-deposit={id}>
            a{' '}
            <a class="inline" href={link('bridge')}>
              deposit
            </a>{' '}
            from layer 1 <State state={found.state} />
            {found.height !== undefined && (
              <>
                {' '}
                in{' '}
                <a class="inline" href={link('block', String(found.height))}>
                  block {found.height}
                </a>
              </>
            )}
          </span>
        )
      }
      otherwise={() => otherwise}
    />
  )
}
