import { encodeRegistryDatum } from '../../datum/registry.js'
import { type Breach, breach } from '../breach.js'
import { timeOf } from '../evaluate.js'
import { adaBreach, outputBreaches } from '../output-breaches.js'
import type { TestTransaction } from '../transaction.js'
import {
  ada,
  administrator,
  bond,
  changeInput,
  changeOutput,
  maxOperators,
  operator,
  otherOperator,
  stranger,
  type World,
} from '../world.js'
import { signedBy, withDatum } from './edits.js'
import {
  change,
  entry,
  evict,
  newcomer,
  registerFirst,
  registerSecond,
  release,
  retire,
  retired,
  running,
  stopped,
} from './scenarios.js'

/** Operators who exist only to fill the registry. */
const crowd = (count: number, times: Parameters<typeof entry>[1] = {}) =>
  Array.from({ length: count }, (_, i) => entry({ hash: new Uint8Array(28).fill(i + 1) }, times))

export function changeBreaches(name: string, scenario: (world: World) => TestTransaction): Breach[] {
  return [
    ...outputBreaches(`${name}-continues`, scenario, 0, 'registry'),
    adaBreach(`${name}-continues`, scenario, 0),
    breach(`${name}-continues-datum`, 'another operator is added without a bond', (world) =>
      withDatum(scenario(world), running(world, entry(stranger), entry(otherOperator), entry(operator))),
    ),
    breach(`${name}-continues-datum`, 'all operators are deleted', (world) =>
      withDatum(scenario(world), running(world)),
    ),
  ]
}

export const registerBreaches: readonly Breach[] = [
  ...changeBreaches('register', registerSecond),
  breach('register-signed-by-operator', 'another operator signs', (world) =>
    signedBy(registerSecond(world), stranger.hash, administrator.hash),
  ),
  breach('register-signed-by-operator', 'the administrator signs instead of the operator', (world) =>
    signedBy(registerSecond(world), administrator.hash),
  ),
  breach('register-by-administrator', 'a stranger registers alone', (world) =>
    signedBy(registerSecond(world), otherOperator.hash),
  ),
  breach('register-once', 'the operator is registered already', (world) => ({
    ...change(
      world,
      { kind: 'register', operator: operator.hash },
      running(world, entry(operator)),
      running(world, entry(operator, { activeFrom: timeOf(160n) }), entry(operator)),
    ),
    signatories: [operator.hash, administrator.hash],
  })),
  breach('register-once', "the operator's bond from an earlier registration is still locked", (world) => ({
    ...change(
      world,
      { kind: 'register', operator: operator.hash },
      running(world, retired),
      running(world, entry(operator, { activeFrom: timeOf(160n) }), retired),
    ),
    signatories: [operator.hash, administrator.hash],
  })),
  breach('register-below-maximum', 'the registry is full', (world) => {
    const full = crowd(Number(maxOperators))
    return {
      ...change(
        world,
        { kind: 'register', operator: otherOperator.hash },
        running(world, ...full),
        running(world, newcomer, ...full),
      ),
      signatories: [otherOperator.hash, administrator.hash],
    }
  }),
  breach('register-datum-bounded', 'twice the maximum of entries exists, most of them retired', (world) => {
    const full = crowd(2 * Number(maxOperators), { activeUntil: timeOf(40n) })
    return {
      ...change(
        world,
        { kind: 'register', operator: otherOperator.hash },
        running(world, ...full),
        running(world, newcomer, ...full),
      ),
      signatories: [otherOperator.hash, administrator.hash],
    }
  }),
  breach('register-continues-datum', 'the turn in progress changes hands', (world) =>
    withDatum(
      registerSecond(world),
      running(world, entry(otherOperator, { activeFrom: timeOf(40n) }), entry(operator)),
    ),
  ),
  breach('register-continues-datum', 'the next turn changes hands', (world) =>
    withDatum(
      registerSecond(world),
      running(world, entry(otherOperator, { activeFrom: timeOf(100n) }), entry(operator)),
    ),
  ),
  breach('register-continues-datum', 'the operator counts from a turn before the one in progress', (world) =>
    withDatum(registerFirst(world), stopped(world, entry(operator, { activeFrom: timeOf(-20n) }))),
  ),
  breach('register-continues-ada', 'the bond is not paid', (world) =>
    changeOutput(registerFirst(world), 0, { lovelace: ada(5) }),
  ),
  breach('register-continues-datum', 'the entry states a larger bond than was paid', (world) =>
    withDatum(registerSecond(world), running(world, { ...newcomer, bond: bond + 1n }, entry(operator))),
  ),
]

export const retireBreaches: readonly Breach[] = [
  ...changeBreaches('retire', retire),
  breach('retire-by-operator-or-administrator', 'another operator signs', (world) =>
    signedBy(retire(world), stranger.hash),
  ),
  breach('retire-by-operator-or-administrator', 'no one signs', (world) => signedBy(retire(world))),
  breach('retire-once', 'the administrator retires an operator again, to lock the bond longer', (world) => {
    const earlier = entry(operator, { activeUntil: timeOf(100n) })
    return {
      ...evict(world),
      inputs: [
        evict(world).inputs[0]!,
        change(
          world,
          { kind: 'retire', operator: operator.hash },
          running(world, entry(otherOperator), earlier),
          running(world),
        ).inputs[1]!,
      ],
    }
  }),
  breach(
    'retire-soon',
    'the administrator retires an operator at a later time, to lock the bond longer',
    (world) => ({
      ...withDatum(
        evict(world),
        running(world, entry(otherOperator), entry(operator, { activeUntil: timeOf(220n) })),
      ),
      validFrom: 40n,
      validTo: 101n,
    }),
  ),
  breach('retire-soon', 'the transaction has no lower validity bound', (world) => {
    const { validFrom: _, ...rest } = retire(world)
    return rest
  }),
  breach('retire-continues-datum', 'the operator loses the next turn', (world) =>
    withDatum(
      evict(world),
      running(world, entry(otherOperator), entry(operator, { activeUntil: timeOf(100n) })),
    ),
  ),
  breach('retire-continues-datum', 'the operators change places', (world) =>
    withDatum(retire(world), running(world, retired, entry(otherOperator))),
  ),
  breach('retire-continues-datum', "the operator's entry is deleted", (world) =>
    withDatum(retire(world), running(world, entry(otherOperator))),
  ),
  breach('retire-continues-datum', 'the entry states a smaller bond', (world) =>
    withDatum(evict(world), running(world, entry(otherOperator), { ...retired, bond: 0n })),
  ),
  breach('retire-continues-ada', 'the administrator withdraws the bond', (world) =>
    changeOutput(evict(world), 0, { lovelace: ada(5) + bond }),
  ),
]

export const releaseBreaches: readonly Breach[] = [
  ...changeBreaches('release', release),
  breach('release-signed-by-operator', 'another operator signs', (world) =>
    signedBy(release(world), stranger.hash),
  ),
  breach('release-signed-by-operator', 'the administrator signs', (world) =>
    signedBy(release(world), administrator.hash),
  ),
  breach('release-not-early', 'the release is one slot early', (world) => ({
    ...release(world),
    validFrom: 279n,
  })),
  breach('release-not-early', 'the transaction has no lower validity bound', (world) => {
    const { validFrom: _, ...rest } = release(world)
    return rest
  }),
  breach('release-not-early', 'the operator has not retired', (world) =>
    changeInput(release(world), 2, {
      datum: encodeRegistryDatum(running(world, entry(otherOperator), entry(operator))),
    }),
  ),
  breach('release-continues-ada', "another operator's bond is withdrawn as well", (world) =>
    changeOutput(release(world), 0, { lovelace: ada(5) }),
  ),
]
