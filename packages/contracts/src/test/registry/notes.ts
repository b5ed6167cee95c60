import { continuingNotes, leastAda, note, outputNotes, type RuleNote } from '../rule-notes.js'

export const registryNotes: readonly RuleNote[] = [
  note(
    'registry-init-spends-deployment-output',
    'the output that the script names as a parameter is spent',
    'a second registry, in which a committer is alone',
  ),
  note(
    'registry-init-by-administrator',
    'the administrator authorises it, or is renounced',
    'another owner of the deployment output starting the registry',
  ),
  note(
    'registry-init-mints-token-only',
    'exactly one token is minted, and nothing else under the policy',
    'a second registry in the same transaction',
  ),
  note(
    'registry-init-names-queue',
    'the datum names a queue: 28 bytes',
    'a registry that no queue can belong to',
  ),
  note(
    'registry-init-starts-queue',
    "if the administrator is renounced, that queue's root is minted in the same transaction",
    'a stranger starting the queue with a state of their own',
  ),
  ...outputNotes('registry-init', 'output 0', {
    address: "the script's address, without staking part",
    tokens: "the registry's token",
    datum:
      'a registry without operators, which names a queue and states that it does not run ' +
      '(that it runs, if the administrator is renounced)',
    datumStops: 'operators who deposited no bond, and a registry whose queue can never start',
  }),
  note(
    'registry-deinit-by-administrator',
    'the administrator authorises it',
    'ending the registry without authority',
  ),
  note(
    'registry-deinit-burns-token-only',
    'exactly one token is burned, and nothing else minted or burned under the policy',
    'keeping a token to forge a registry with',
  ),
  note(
    'registry-deinit-empty',
    'the registry has no operator, retired or not, and its queue does not run',
    'the administrator taking bonds, and a queue without a registry',
  ),
  note(
    'registry-spend-under-policy',
    'a deinit also burns under the policy, so its rules apply',
    'spending the registry with the redeemer of deinit and keeping everything',
  ),
  note(
    'register-signed-by-operator',
    'the operator named by the redeemer signs',
    'entries for keys whose owners did not agree',
  ),
  note(
    'register-by-administrator',
    'the registry is not permissioned, or the administrator authorises it',
    'a stranger buying the power to commit with one refundable bond, or filling the registry',
  ),
  note(
    'register-once',
    'the operator has no entry yet',
    'two turns for one operator, and two bonds that `release` cannot tell apart',
  ),
  note(
    'register-below-maximum',
    'fewer than `max_operators` operators have not retired',
    'turns that come too rarely',
  ),
  note(
    'register-datum-bounded',
    'there are fewer than twice as many entries, retired ones included',
    'a datum too large to spend',
  ),
  ...continuingNotes(
    'register-continues',
    'the registry',
    'the old one with the operator in front, active from the turn after next (at once while the queue ' +
      'does not run), with the bond of the parameters',
    'changing the operator of this turn or the next, and changing other entries',
  ),
  leastAda('register-continues', 'output 0 holds the old ada plus the bond', 'registering without a bond'),
  note(
    'retire-by-operator-or-administrator',
    'the operator signs, or the registry is permissioned and the administrator authorises it',
    'retiring an operator without authority',
  ),
  note(
    'retire-once',
    'the operator has not retired',
    'the administrator locking a bond longer by retiring the operator again',
  ),
  note(
    'retire-soon',
    'the validity interval is at most one turn long',
    'the administrator locking a bond for long by a late upper bound',
  ),
  ...continuingNotes(
    'retire-continues',
    'the registry',
    "the old one; the operator's entry ends with the next turn (at once while the queue does not run)",
    'an early release, changing the operator of this turn or the next, and changing other entries',
  ),
  leastAda('retire-continues', 'output 0 holds at least the old ada', 'taking a bond while it is locked'),
  note(
    'release-signed-by-operator',
    'the operator named by the redeemer signs',
    'others, the administrator included, taking the bond',
  ),
  note(
    'release-not-early',
    'the operator has retired, and the release delay after `active_until` is over at the lower bound',
    "taking a bond while one of the operator's blocks can still be removed",
  ),
  ...continuingNotes(
    'release-continues',
    'the registry',
    'the old one without the operator',
    'changing other entries',
  ),
  leastAda(
    'release-continues',
    "output 0 holds at least the old ada minus the operator's bond",
    "taking other operators' bonds",
  ),
  note(
    'slash-by-removal',
    'the policy of the named queue runs with `remove` and the same approach; its rules require the verdict ' +
      'and name the operator',
    'slashing without a verdict: beside a removal by the administrator, a pruning, a merge or another queue',
  ),
  note(
    'slash-approach',
    'the approach is `active` if the operator has not retired, and `retired` otherwise',
    'redeemers that misstate the transaction',
  ),
  ...outputNotes('slash-continues', 'output 1 (the registry, paid back)', {
    address: 'the address it was spent from, byte for byte',
    tokens: 'the tokens it held',
    datum: 'the old one without the operator',
    datumStops: 'changing or deleting the entries of other operators',
  }),
  leastAda(
    'slash-continues',
    "output 1 holds at least the old ada minus the operator's bond, plus the penalty",
    "taking other operators' bonds, and the penalty",
  ),
  note(
    'set-queue-by-administrator',
    'the administrator authorises it',
    'a stranger starting the queue with a state of their own',
  ),
  note(
    'set-queue-changes',
    'the queue did not run and starts, or it ran and ends',
    'a second root beside the first',
  ),
  note(
    'set-queue-with-root',
    'the root of the queue that the registry names is minted when it starts, and burned when it ends',
    'a registry that states that no queue runs while the root exists; a start without a root',
  ),
  ...continuingNotes(
    'set-queue-continues',
    'the registry',
    'the operators and the queue unchanged, and whether it runs',
    'changing operators in an init, and another queue, which could slash any operator',
  ),
  leastAda('set-queue-continues', 'output 0 holds at least the old ada', 'taking bonds'),
]
