import { useSignal } from '@preact/signals'
import type { Summoned } from '@ratatosk/client'
import { Outcome, Token, useAction } from '../controls.js'
import { clockTime } from '../format.js'
import { operate } from '../operate.js'
import { serves } from '../routes.js'
import { now, readAgain } from '../store.js'

/** Lets an operator ask for a chunk of a block whose body no peer serves. */
export function Summon() {
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
