import { CborWriter } from '@ratatosk/ledger'
import { type Compiled, compileOperatorRegistry, compileStateQueue } from '../validators/compile.js'
import type { Breach } from './breach.js'
import type { Evaluate } from './evaluate.js'
import { queueBreaches } from './queue/breaches.js'
import { registryBreaches } from './registry/breaches.js'
import { createWorld, type World } from './world.js'

/** A validator and the transactions that its rules refuse. */
export interface Subject {
  readonly name: string
  readonly compile: (without?: string) => Compiled
  readonly breaches: readonly Breach[]
  readonly world: (program: Uint8Array) => World
}

const code = (program: Uint8Array) => new CborWriter(program.length + 5).bytes(program).toBytes()

export const subjects: readonly Subject[] = [
  {
    name: 'state queue',
    compile: compileStateQueue,
    breaches: queueBreaches,
    world: (program) => createWorld({ queue: code(program) }),
  },
  {
    name: 'operator registry',
    compile: compileOperatorRegistry,
    breaches: registryBreaches,
    world: (program) => createWorld({ registry: code(program) }),
  },
]

/** What became of a rule's tests when the rule was left out of the script. */
export interface Mutant {
  readonly rule: string
  /** Transactions that the tests expect to be refused, and that pass without the rule: each is a test that fails. */
  readonly caught: readonly Breach[]
  /** Those that are refused all the same, so that they do not break this rule alone. */
  readonly missed: readonly Breach[]
}

export function judgeMutant(subject: Subject, rule: string, evaluate: Evaluate): Mutant {
  const world = subject.world(subject.compile(rule).program)
  const own = subject.breaches.filter((breach) => breach.rule === rule)
  const caught = own.filter(({ transaction }) => evaluate(transaction(world)).ok)
  return { rule, caught, missed: own.filter((breach) => !caught.includes(breach)) }
}
