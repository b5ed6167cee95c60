import { useSignal } from '@preact/signals'
import type { DeadLetterPage, DeadLetterSummary } from '@ratatosk/client'
import { Outcome, Pages, Token, Twice, useAction } from '../controls.js'
import { grouped } from '../format.js'
import { operate } from '../operate.js'
import { Ago, Empty, Load, Name, Scroll } from '../parts.js'
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
        <Scroll label="Rejected transactions">
          <table>
            <thead>
              <tr>
                <th>Transaction</th>
                <th>Do</th>
                <th>Rule</th>
                <th>Times</th>
                <th>When</th>
                <th>Reason</th>
              </tr>
            </thead>
            <tbody>
              {deadLetters.slice(offset.value, offset.value + pageSize).map((letter) => (
                <Letter key={letter.id} letter={letter} act={act} />
              ))}
            </tbody>
          </table>
        </Scroll>
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

interface LetterProps {
  readonly letter: DeadLetterSummary
  readonly act: (path: string, method: string) => void
}

function Letter({ letter: { id, txHash, code, reason, count, rejectedAt, replayedAs }, act }: LetterProps) {
  const path = encodeURIComponent(id)
  const subject = txHash === undefined ? `submission ${id}` : `transaction ${txHash.slice(0, 8)}`
  return (
    <tr data-letter={id}>
      <td>{txHash === undefined ? <Name name={id} /> : <Name name={txHash} page="tx" />}</td>
      <td>
        <span class="row">
          <Twice
            label={replayedAs === undefined ? 'Replay' : 'Replay again'}
            subject={subject}
            run={() => act(`${path}/replay`, 'POST')}
          />
          <Twice label="Drop" subject={subject} run={() => act(path, 'DELETE')} />
        </span>
      </td>
      <td class="bad">{code}</td>
      <td>{grouped(count)}</td>
      <td>
        <Ago at={rejectedAt} />
      </td>
      <td>{reason.length > 200 ? `${reason.slice(0, 200)}…` : reason}</td>
    </tr>
  )
}

/** How many dead letters name each predicate, the most frequent first. */
function countsOf(letters: readonly DeadLetterSummary[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>()
  for (const { code } of letters) counts.set(code, (counts.get(code) ?? 0) + 1)
  return [...counts].sort(([, one], [, other]) => other - one)
}
