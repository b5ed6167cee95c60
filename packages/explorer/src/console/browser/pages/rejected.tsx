import { useSignal } from '@preact/signals'
import type { DeadLetterPage, DeadLetterSummary } from '@ratatosk/client'
import type { ComponentChildren } from 'preact'
import { operate } from '../api.js'
import { Outcome, Pages, Token, Twice, useAction } from '../controls.js'
import { grouped } from '../format.js'
import { Ago, Empty, Load, Name, Table } from '../parts.js'
import { remedyOf } from '../remedies.js'
import { readAgain } from '../store.js'

/** Dead letters that are read, and those that are listed at a time. */
const most = 100
const pageSize = 20

/** Rejected transactions: by which rule, what to do, and each of them. */
export function Rejected() {
  return (
    <>
      <Token />
      <Load<DeadLetterPage>
        path={`deadLetters?limit=${most}`}
        by={operate}
        isSlow
        show={(page) => <Letters page={page} />}
      />
    </>
  )
}

function Letters({ page: { deadLetters, before } }: { readonly page: DeadLetterPage }) {
  const offset = useSignal(0)
  const { problem, run } = useAction()
  const act = (path: string, method: string) =>
    run(async () => {
      await operate(`deadLetters/${path}`, method)
      readAgain()
    })
  if (deadLetters.length === 0)
    return <Empty>Nothing is rejected. Check shows what a transaction would break, before it is sent.</Empty>
  const counts = countsOf(deadLetters)
  const highest = counts[0]?.[1] ?? 1
  return (
    <>
      <section>
        <h2>By rule</h2>
        <p class="dim">
          {before === undefined ? `${grouped(deadLetters.length)} kept` : `Of the newest ${grouped(most)}`},
          by the first rule that each breaks
        </p>
        <ul class="counts" id="histogram">
          {counts.map(([code, count]) => (
            <li key={code} data-code={code} data-count={count}>
              <span>
                <strong>{code}</strong> {grouped(count)}
              </span>
              <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
                <rect width={Math.max(1, (100 * count) / highest)} height="10" />
              </svg>
              <span class="dim">{remedyOf(code) ?? 'The reason of each says more.'}</span>
            </li>
          ))}
        </ul>
      </section>
      <section>
        <h2>Newest</h2>
        <p>
          <Outcome problem={problem.value} />
        </p>
        <Table
          label="Rejected transactions"
          heads={['Transaction', 'Do', 'Rule', 'Times', 'When', 'Reason']}
          rows={deadLetters.slice(offset.value, offset.value + pageSize).map((letter) => ({
            // A letter that is rejected again has another id.
            key: letter.digest,
            'data-letter': letter.digest,
            cells: cellsOf(letter, act),
          }))}
        />
        <Pages
          isFirst={offset.value === 0}
          isLast={offset.value + pageSize >= deadLetters.length}
          move={(by) => {
            offset.value = Math.max(0, offset.value + by * pageSize)
          }}
        />
      </section>
    </>
  )
}

function cellsOf(
  { id, txHash, code, reason, count, rejectedAt, replayedAs }: DeadLetterSummary,
  act: (path: string, method: string) => void,
): readonly ComponentChildren[] {
  const path = encodeURIComponent(id)
  const subject = txHash === undefined ? `submission ${id}` : `transaction ${txHash.slice(0, 8)}`
  return [
    txHash === undefined ? <Name name={id} /> : <Name name={txHash} page="tx" />,
    <span key="do" class="row">
      <Twice
        label={replayedAs === undefined ? 'Replay' : 'Replay again'}
        subject={subject}
        run={() => act(`${path}/replay`, 'POST')}
      />
      <Twice label="Drop" subject={subject} run={() => act(path, 'DELETE')} />
    </span>,
    <span key="rule" class="bad">
      {code}
    </span>,
    grouped(count),
    <Ago key="when" at={rejectedAt} />,
    <span key="reason" class="long">
      {reason.length > 200 ? `${reason.slice(0, 200)}…` : reason}
    </span>,
  ]
}

/** How many dead letters name each predicate, the most frequent first. */
function countsOf(letters: readonly DeadLetterSummary[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>()
  for (const { code } of letters) counts.set(code, (counts.get(code) ?? 0) + 1)
  return [...counts].sort(([, one], [, other]) => other - one)
}
