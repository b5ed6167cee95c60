import { useSignal } from '@preact/signals'
import { Choice, Outcome, Token, useAction } from '../controls.js'
import { counted, grouped } from '../format.js'
import { Moves } from '../move-list.js'
import { operate } from '../operate.js'
import { Load, useLayer1Polls } from '../parts.js'
import { overview, readAgain } from '../store.js'

interface DevnetState {
  readonly tip: { readonly height: number; readonly slot: number }
  readonly currentSlot: number
  readonly mempool: number
  /** Absent where it cannot be stopped. */
  readonly sequencer?: SequencerState
}

type SequencerState = 'running' | 'stopped'

const kinds = ['time-out', 'refusal', 'rate-limit', 'failure', 'garbage', 'delay', 'lost-answer'] as const
const operations = ['any', 'submit', 'utxos', 'transaction', 'tip', 'parameters', 'evaluate'] as const

/** Controls of the devnet's layer 1, and the node's reactions. */
export function Devnet() {
  useLayer1Polls()
  const done = useSignal('')
  const { runs, problem, run } = useAction()
  const act = (what: string, path: string, method: string, body?: unknown) =>
    run(async () => {
      done.value = ''
      const { height } =
        (await operate<{ height?: number } | undefined>(`devnet/${path}`, method, body)) ?? {}
      done.value = height === undefined ? what : `${what}: the tip is block ${grouped(height)}`
      readAgain()
    })
  /** Calls with the fields of a form. */
  const onSubmit = (work: (field: (name: string) => string) => void) => (event: SubmitEvent) => {
    event.preventDefault()
    const fields = new FormData(event.currentTarget as HTMLFormElement)
    work((name) => String(fields.get(name) ?? ''))
  }
  const setSequencer = (sequencer: SequencerState) =>
    act(`The sequencer is ${sequencer}`, 'sequencer', 'POST', { sequencer })
  return (
    <>
      <section class="stack">
        <h2>Layer 1</h2>
        <Token />
        <Load<DevnetState>
          path="devnet"
          by={operate}
          isSlow
          show={({ tip, currentSlot, mempool, sequencer }) => (
            <>
              <p>
                Block <strong id="height">{grouped(tip.height)}</strong>, slot {grouped(currentSlot)},{' '}
                {counted(mempool, 'transaction')} in its mempool
              </p>
              {sequencer && <Sequencer state={sequencer} runs={runs.value} set={setSequencer} />}
            </>
          )}
        />
        <form
          class="row"
          id="make"
          onSubmit={onSubmit((field) =>
            act('Blocks are made', 'blocks', 'POST', { count: Number(field('count')) }),
          )}
        >
          <label>
            Blocks <input name="count" type="number" min={1} max={1000} defaultValue={1} required />
          </label>
          <button type="submit" disabled={runs.value}>
            Make blocks
          </button>
        </form>
        <form
          class="row"
          id="undo"
          onSubmit={onSubmit((field) =>
            act('Rolled back', 'roll-back', 'POST', {
              blocks: Number(field('blocks')),
              resubmit: field('resubmit') === 'on',
            }),
          )}
        >
          <label>
            Blocks <input name="blocks" type="number" min={1} max={2160} defaultValue={10} required />
          </label>
          <label>
            <input name="resubmit" type="checkbox" /> keep their transactions
          </label>
          <button type="submit" disabled={runs.value}>
            Roll back
          </button>
        </form>
        <form
          class="row"
          id="fault"
          onSubmit={onSubmit((field) =>
            act('The fault is injected', 'faults', 'POST', {
              kind: field('kind'),
              times: Number(field('times')),
              ...(field('operation') !== 'any' && { operation: field('operation') }),
            }),
          )}
        >
          <Choice label="Fault" name="kind" values={kinds} />
          <Choice label="of" name="operation" values={operations} />
          <label>
            Times <input name="times" type="number" min={1} max={1000} defaultValue={5} required />
          </label>
          <button type="submit" disabled={runs.value}>
            Inject
          </button>
          <button
            type="button"
            disabled={runs.value}
            onClick={() => act('All faults are removed', 'faults', 'DELETE')}
          >
            Remove all faults
          </button>
        </form>
        <p id="done">
          <Outcome problem={problem.value}>{done.value}</Outcome>
        </p>
      </section>
      <section>
        <h2>What the node did</h2>
        <Moves />
      </section>
    </>
  )
}

/** Stops or starts what commits and merges blocks, and shows what waits for it meanwhile. */
function Sequencer({
  state,
  runs,
  set,
}: {
  readonly state: SequencerState
  readonly runs: boolean
  readonly set: (state: SequencerState) => void
}) {
  const isStopped = state === 'stopped'
  const waiting = overview.value?.mempool
  return (
    <p class="row">
      <button type="button" id="stop" disabled={runs} onClick={() => set(isStopped ? 'running' : 'stopped')}>
        {isStopped ? 'Start the sequencer' : 'Stop the sequencer'}
      </button>
      <span id="sequencer">
        The sequencer is {state}
        {waiting && `; ${grouped(waiting.transactions)}${waiting.more ? '+' : ''} accepted transactions wait`}
      </span>
    </p>
  )
}
