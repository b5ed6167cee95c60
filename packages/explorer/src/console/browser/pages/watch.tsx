import { type Signal, useSignal } from '@preact/signals'
import type { BlockVerdict, BlockVerdicts, OpenQuestion, OpenQuestions, Summoned } from '@ratatosk/client'
import { useEffect } from 'preact/hooks'
import { operate } from '../api.js'
import { Outcome, Pages, Token, useAction } from '../controls.js'
import { ada, clockTime, grouped } from '../format.js'
import { Ago, Countdown, Empty, Load, Name, State, Table, useLayer1Polls } from '../parts.js'
import { link, serves } from '../router.js'
import { now, readAgain } from '../store.js'

/** Verdicts on a page, and open questions that are read. */
const [pageSize, mostQuestions] = [10, 100]

const maxReason = 400

/** The watcher's findings against blocks, and the questions about them on layer 1. */
export function Watch() {
  const open = useSignal<readonly OpenQuestion[]>([])
  useLayer1Polls()
  return (
    <>
      <Verdicts open={open} />
      <Load<OpenQuestions>
        path={`summons?limit=${mostQuestions}`}
        isSlow
        otherwise={() => null}
        show={(answer) => <Questions answer={answer} open={open} />}
      />
    </>
  )
}

/** Read beside the verdicts, which need no layer 1. */
type Open = Signal<readonly OpenQuestion[]>

function Verdicts({ open }: { readonly open: Open }) {
  /** The header hashes behind which the pages begin, the newest page first. */
  const befores = useSignal<readonly string[]>([])
  const before = befores.value.at(-1)
  return (
    <section>
      <h2>Disputed blocks</h2>
      <p class="dim">
        Blocks without a body, and blocks that break a rule. The watcher asks for what is hidden, and removes
        what a proof or silence convicts.
      </p>
      <Load<BlockVerdicts>
        path={`verdicts?limit=${pageSize}${before === undefined ? '' : `&before=${before}`}`}
        isSlow
        show={({ verdicts, hasMore }) => (
          <>
            {verdicts.length === 0 && <Empty>No block is disputed.</Empty>}
            <ol class="disputes">
              {verdicts.map((verdict) => (
                <Dispute
                  key={verdict.headerHash}
                  verdict={verdict}
                  open={open.value.filter(({ headerHash }) => headerHash === verdict.headerHash)}
                />
              ))}
            </ol>
            <Pages
              isFirst={before === undefined}
              isLast={!hasMore}
              move={(by) => {
                const last = verdicts.at(-1)?.headerHash
                befores.value =
                  by < 0 ? befores.value.slice(0, -1) : [...befores.value, ...(last ? [last] : [])]
              }}
            />
          </>
        )}
      />
    </section>
  )
}

const stages: Readonly<Record<BlockVerdict['transactions'][number]['stage'], string>> = {
  question: 'asks for what is hidden',
  datum: 'stores a part of the proof',
  verdict: 'makes the verdict',
  removal: 'removes the block',
  prune: 'prunes the blocks behind',
}

function Dispute({
  verdict,
  open,
}: {
  readonly verdict: BlockVerdict
  readonly open: readonly OpenQuestion[]
}) {
  const { headerHash, height, operatorKey, state, reason, position, policy, fraud } = verdict
  const { transactions, foundAt, removedAt } = verdict
  const fees = transactions.reduce((sum, { fee }) => sum + BigInt(fee), 0n)
  return (
    <li class={`dispute ${state}`} data-verdict={headerHash} data-state={state}>
      <p class="row">
        <strong>
          <a href={link('block', headerHash)}>Block {grouped(height)}</a>
        </strong>
        <State state={state} />
        <Name name={headerHash} />
        <span class="cost" data-cost={String(fees)}>
          {transactions.length === 0 ? 'nothing spent' : `${ada(String(fees))} ₳ in fees`}
        </span>
      </p>
      <p class="why">{reason.length > maxReason ? `${reason.slice(0, maxReason)}…` : reason}</p>
      <dl class="marks">
        <div>
          <dt>operator</dt>
          <dd>
            <Name name={operatorKey} />
          </dd>
        </div>
        {position !== undefined && (
          <div>
            <dt>transaction</dt>
            <dd>{grouped(position)} of the block</dd>
          </div>
        )}
        {fraud !== undefined && (
          <div>
            <dt>proof</dt>
            <dd>
              {policy}: {fraud}
            </dd>
          </div>
        )}
        <div>
          <dt>found</dt>
          <dd>
            <Ago at={foundAt} />
          </dd>
        </div>
        {removedAt && (
          <div>
            <dt>removed</dt>
            <dd>
              <Ago at={removedAt} />
            </dd>
          </div>
        )}
      </dl>
      {(transactions.length > 0 || open.length > 0) && (
        <ol class="steps">
          {transactions.map(({ txHash, stage, fee, sentAt }) => (
            <li key={txHash} class={stage} data-stage={stage}>
              <span>{stages[stage]}</span>
              <Name name={txHash} />
              <span>{ada(fee)} ₳</span>
              <span class="dim">
                <Ago at={sentAt} />
              </span>
            </li>
          ))}
          {open.map((question) => (
            <li key={question.question} class="waits">
              <span>{subjectOf(question)} waits for its answer</span>
              <Name name={question.question} />
              <span>{ada(question.bond)} ₳ locked</span>
              <span>
                <Countdown to={question.deadline} />
              </span>
            </li>
          ))}
        </ol>
      )}
    </li>
  )
}

function Questions({ answer, open }: { readonly answer: OpenQuestions; readonly open: Open }) {
  const { questions, hasMore } = answer
  useEffect(() => {
    open.value = questions
  }, [questions])
  return (
    <section>
      <h2>Open questions</h2>
      <p class="dim">
        Anyone can ask the operator of a block on layer 1 for a part of it. Silence until the deadline is a
        verdict.
      </p>
      <Summon />
      {questions.length === 0 && <Empty>No question waits for its answer.</Empty>}
      {questions.length > 0 && (
        <Table
          label="Open questions"
          id="questions"
          heads={['Left', 'About', 'Block', 'Locked', 'Question']}
          rows={questions.map((each) => ({
            key: each.question,
            'data-question': each.question,
            cells: [
              <Countdown key="left" to={each.deadline} />,
              subjectOf(each),
              <Name key="block" name={each.headerHash} page="block" />,
              `${ada(each.bond)} ₳`,
              <Name key="question" name={each.question} />,
            ],
          }))}
        />
      )}
      {hasMore && <p class="dim">These are the {mostQuestions} that are due first.</p>}
    </section>
  )
}

function subjectOf({ kind, root, key }: OpenQuestion): string {
  if (kind === 'chunk') return `chunk ${grouped(Number.parseInt(key, 16))}`
  const nibbles = Number.parseInt(key.slice(-2), 16)
  return `${kind === 'leaf' ? 'a leaf' : 'the nodes'} below ${nibbles} nibbles of ${root}`
}

/** Lets an operator ask for a chunk of a block whose body no peer serves. */
function Summon() {
  const { runs, problem, run } = useAction()
  const said = useSignal('')
  if (!serves('POST /summon')) return null
  return (
    <>
      <Token />
      <form
        class="row"
        id="summon"
        onSubmit={(event) => {
          event.preventDefault()
          const form = new FormData(event.currentTarget)
          const headerHash = String(form.get('hash')).trim()
          const chunk = Number(form.get('chunk'))
          said.value = ''
          run(async () => {
            const question = { headerHash, kind: 'chunk', chunk }
            const { deadline } = await operate<Summoned>('summon', 'POST', question)
            said.value = `Asked. Silence convicts at ${clockTime(deadline, now.value)}.`
            readAgain()
          })
        }}
      >
        <label>
          Header hash{' '}
          <input name="hash" required pattern="\s*[0-9a-fA-F]{56}\s*" maxLength={60} autoComplete="off" />
        </label>
        <label>
          Chunk <input name="chunk" type="number" min="0" max="4294967295" value="0" required />
        </label>
        <button type="submit" class="main" disabled={runs.value}>
          Ask
        </button>
        <Outcome problem={problem.value}>
          {said.value || 'For a block whose body no peer serves. It locks ada until the answer.'}
        </Outcome>
      </form>
    </>
  )
}
