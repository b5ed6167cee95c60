import { type Signal, useSignal } from '@preact/signals'
import { Outcome, Token, useAction } from '../controls.js'
import { Moves } from '../move-list.js'
import { operate } from '../operate.js'
import { go } from '../router.js'
import { serves } from '../routes.js'
import { sendFiveAda } from '../send.js'
import { blocks, now } from '../store.js'

/** On a devnet: a payment to follow, and a roll-back of layer 1 to watch. */
export function TryIt() {
  const since = useSignal<number | undefined>(undefined)
  return (
    <>
      <div class="columns actions">
        <Send />
        <Break since={since} />
      </div>
      <Token />
      {since.value !== undefined && (
        <section>
          <h2>What the node did</h2>
          <Moves since={since.value} />
        </section>
      )}
    </>
  )
}

function Send() {
  const { runs, problem, run } = useAction()
  if (!serves('GET /dev-wallet.js')) return null
  return (
    <p class="send">
      <button
        type="button"
        id="send"
        class="main"
        disabled={runs.value}
        onClick={() => run(async () => go('tx', await sendFiveAda()))}
      >
        {runs.value ? 'Sending …' : 'Send 5 ada'}
      </button>
      <Outcome problem={problem.value}>
        from one test wallet of the devnet to another, and follow it to the confirmed state
      </Outcome>
    </p>
  )
}

/** Rolls layer 1 back to before the newest commit, whose transaction is lost. */
function Break({ since }: { readonly since: Signal<number | undefined> }) {
  const { runs, problem, run } = useAction()
  if (!serves('POST /devnet/roll-back')) return null
  const rollBack = async () => {
    const isThere = (state: string) => state === 'committed' || state === 'mature'
    const newest = blocks.value?.find(({ state, commitTxHash }) => isThere(state) && commitTxHash)
    if (newest?.commitTxHash === undefined)
      throw new Error('No block is in the state queue: send 5 ada, and break it once its block is committed')
    const from = now.value - 1000
    await operate('devnet/roll-back', 'POST', { transaction: newest.commitTxHash })
    since.value = from
  }
  return (
    <p class="send">
      <button type="button" id="break" class="main" disabled={runs.value} onClick={() => run(rollBack)}>
        Break something
      </button>
      <Outcome problem={problem.value}>
        rolls layer 1 back to before the newest commit, and shows how the node repairs it
      </Outcome>
    </p>
  )
}
