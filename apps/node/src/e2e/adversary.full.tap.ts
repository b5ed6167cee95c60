import t from 'tap'
import { largeLie, lies, lostQuestions } from '../../../../packages/fraud/dist/test/lies/index.js'
import type { Committed, Story } from '../../../../packages/fraud/dist/test/lying-blocks.js'
import { type Phases, tableOf } from '../test/adversary/phases.js'
import { type Hiding, openAdversary } from '../test/adversary/scene.js'

t.setTimeout(7_200_000)

/** A lie that an operator commits, and its expected end. */
interface Case extends Hiding {
  readonly name: string
  readonly what: string
  readonly tell: (story: Story) => Committed
  readonly policy: string
  /** As the verdict names it. */
  readonly fraud: string
}

const large: Case = {
  name: 'inputSpentElsewhere: large',
  what: 'that an output can be spent twice, with a proof that needs a datum',
  tell: largeLie,
  policy: 'ledger',
  fraud: 'inputSpentElsewhere',
  isWithheld: false,
}

const cases: readonly Case[] = [
  large,
  ...lies.map(
    ({ fraud, provenAs, isHidden, ...lie }): Case => ({
      ...lie,
      name: fraud,
      fraud: (provenAs?.fraud ?? fraud).replace(/:.*/, ''),
      // The transactions are those of the header's root, and only the outputs after them are not.
      isWithheld: isHidden && fraud !== 'wrongOutputsAfter',
    }),
  ),
  ...Object.entries(lostQuestions).map(
    ([kind, lie]): Case => ({
      ...lie,
      name: `unanswered: ${kind}`,
      policy: 'summons',
      fraud: 'unanswered',
      isSilent: (question) => question.kind === kind,
    }),
  ),
]

/** One that is proven, and one whose operator does not answer. */
const some = ['valueNotPreserved', 'unanswered: chunk']

function chosen(wanted = ''): readonly Case[] {
  if (wanted === 'all') return cases
  const names = wanted === '' ? some : wanted.split(',')
  return names.map((name) => {
    const found = cases.find((each) => each.name === name)
    if (found === undefined)
      throw new RangeError(`There is no lie ${name}: ${cases.map((each) => each.name).join()}`)
    return found
  })
}

t.test('an operator who lies loses the block and the bond, and the honest one goes on', async (t) => {
  const told = chosen(process.env.RATATOSK_ADVERSARY)
  const { run } = await openAdversary(t, told.length)
  const groups = new Map<string, Phases[]>()
  for (const { name, what, tell, policy, fraud, isWithheld, isSilent } of told) {
    const outcome = await run(tell, { isWithheld, ...(isSilent && { isSilent }) })
    const { verdict, phases, answered } = outcome
    t.match(verdict, { state: 'removed', policy, fraud }, `${name}: an operator says ${what}`)
    if (name === large.name) t.same(verdict.stages.slice(0, 2), ['datum', 'removal'])
    t.equal(outcome.isRegistered, false, 'the cheat is slashed')
    t.equal(outcome.isContinued, true, 'the honest block follows from the honest blocks alone')
    t.equal(outcome.isArchived, true, 'the watcher has the same bytes')
    const { detected, proven, removed, recommitted } = phases
    const times = [detected, proven, removed, recommitted].map((ms) => (ms / 1000).toFixed(2))
    const stages = verdict.stages.filter((stage) => stage !== 'question')
    t.comment(`${name}: ${stages} after ${answered.length} answers: ${times.join(' ')} s`)
    const group = isSilent ? 'lost questions' : answered.length > 0 ? 'answered questions' : 'claims'
    groups.set(group, [...(groups.get(group) ?? []), phases])
  }
  for (const line of tableOf(groups)) t.comment(line)
})
