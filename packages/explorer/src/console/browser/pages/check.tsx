import { useSignal } from '@preact/signals'
import type { Evaluation, ExplorerTrust } from '@ratatosk/client'
import { call } from '../api.js'
import { Outcome, useAction } from '../controls.js'
import { grouped, jsonText } from '../format.js'
import { Empty, Load, Name, Table, Text } from '../parts.js'
import { remedyOf } from '../remedies.js'

const meanings: Readonly<Record<Evaluation['verdict'], string>> = {
  valid: 'submission would accept it now',
  known: 'it is accepted already',
  retriable: 'submission would wait until its inputs are known, or its interval begins',
  invalid: 'submission would reject it',
}
/** Failures and redeemers that are shown. */
const most = 100

/** The result that submission of a transaction would have, without submitting it. */
export function Check() {
  const evaluation = useSignal<Evaluation | undefined>(undefined)
  const { runs, problem, run } = useAction()
  const check = (text: string) =>
    run(async () => {
      evaluation.value = undefined
      const body = text.replace(/\s/g, '')
      if (!/^([0-9a-f]{2})+$/i.test(body)) throw new Error('This is not hex: paste the CBOR of a transaction')
      const headers = { 'content-type': 'text/plain' }
      evaluation.value = await call<Evaluation>('evaluate', { method: 'POST', body, headers })
    })
  return (
    <>
      <section>
        <h2>Check a transaction</h2>
        <form
          class="stack"
          onSubmit={(event) => {
            event.preventDefault()
            const text = new FormData(event.currentTarget).get('cbor')
            check(typeof text === 'string' ? text : '')
          }}
        >
          <label for="cbor">
            Its CBOR in hex, signed or not. The node validates it and forgets it; nothing is submitted.
          </label>
          <textarea id="cbor" name="cbor" required spellcheck={false} autoComplete="off" />
          <span class="row">
            <button type="submit" id="check" class="main" disabled={runs.value}>
              {runs.value ? 'Checking …' : 'Check'}
            </button>
            <Outcome problem={problem.value} />
          </span>
        </form>
      </section>
      {evaluation.value && <Verdict evaluation={evaluation.value} />}
    </>
  )
}

function Verdict({
  evaluation: { verdict, txHash, failures, redeemers, slot },
}: {
  readonly evaluation: Evaluation
}) {
  return (
    <>
      <section>
        <h2>Result</h2>
        <p role="status">
          <span class={`verdict ${verdict}`} id="verdict" data-verdict={verdict}>
            {verdict}
          </span>{' '}
          {meanings[verdict]}, at slot {grouped(slot)}
        </p>
        {txHash && (
          <p>
            Transaction <Name name={txHash} {...(verdict === 'known' && { page: 'tx' })} />
          </p>
        )}
        <ul class="failures" id="failures">
          {failures.slice(0, most).map(({ predicate, message, details }) => (
            <li key={`${predicate} ${message}`} data-predicate={predicate}>
              <strong class="bad">{predicate}</strong> {message}
              <br />
              <span class="dim">{remedyOf(predicate)}</span>
              <Text>{jsonText(details)}</Text>
            </li>
          ))}
        </ul>
        {failures.length > most && <p class="dim">and {grouped(failures.length - most)} more</p>}
      </section>
      {redeemers.length > 0 && <Budgets redeemers={redeemers} />}
    </>
  )
}

function Budgets({ redeemers }: Pick<Evaluation, 'redeemers'>) {
  return (
    <section>
      <h2>Budgets</h2>
      <Table
        label="Budgets"
        id="budgets"
        heads={['Script', 'Outcome', 'Memory used', 'Memory declared', 'Steps used', 'Steps declared']}
        rows={redeemers.slice(0, most).map(({ purpose, index, outcome, used, declared, message, logs }) => ({
          key: `${purpose} ${index}`,
          cells: [
            `${purpose} ${index}`,
            <span key="outcome" class="long">
              {outcome} {message} {logs?.slice(0, 20).join(' · ').slice(0, 500)}
            </span>,
            used ? grouped(used.memory) : 'not run',
            grouped(declared.memory),
            used ? grouped(used.steps) : 'not run',
            grouped(declared.steps),
          ],
        }))}
      />
    </section>
  )
}

/** The trust that users of this deployment need. */
export function Trust() {
  return (
    <Load<ExplorerTrust>
      path="explorer/trust"
      show={({ answers }) => (
        <>
          {answers.length === 0 && (
            <Empty>This process does not know the contracts. Ask a node that reaches layer 1.</Empty>
          )}
          {answers.map(({ risk, answer, facts }) => (
            <section key={risk}>
              <h2>{risk.replace('-', ' ')}</h2>
              <p>{answer}</p>
              <dl class="facts">
                {facts.map(({ name, value }) => (
                  <>
                    <dt>{name}</dt>
                    <dd>{/^\d+$/.test(value) ? grouped(value) : value}</dd>
                  </>
                ))}
              </dl>
            </section>
          ))}
        </>
      )}
    />
  )
}
