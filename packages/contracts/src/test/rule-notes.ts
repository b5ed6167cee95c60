/** What the README says about a rule. */
export interface RuleNote {
  readonly rule: string
  /** The condition that the script checks. */
  readonly condition: string
  /** What an attacker, or a mistake, could do without it. */
  readonly stops: string
}

const note = (rule: string, condition: string, stops: string): RuleNote => ({ rule, condition, stops })

/** The rules of `outputRules(name, …)`, for an output that is called `output` in the README. */
const outputNotes = (
  name: string,
  output: string,
  expected: {
    readonly address: string
    readonly addressStops?: string
    readonly tokens: string
    readonly tokensStops?: string
    readonly datum: string
    readonly datumStops: string
  },
): RuleNote[] => [
  note(
    `${name}-address`,
    `${output} is at ${expected.address}`,
    expected.addressStops ??
      'moving it out of reach of the rules, or to an address whose staking part earns somebody rewards',
  ),
  note(
    `${name}-tokens`,
    `${output} holds ${expected.tokens}, and no other token`,
    expected.tokensStops ?? 'losing the token, and foreign tokens that make the output too large to spend',
  ),
  note(`${name}-datum`, `its inline datum is ${expected.datum}`, expected.datumStops),
  note(
    `${name}-no-script`,
    'it has no reference script',
    'making every later transaction pay for reading a large script',
  ),
]

const leastAda = (name: string, condition: string, stops: string) => note(`${name}-ada`, condition, stops)

const continuingNotes = (name: string, element: string, datum: string, datumStops: string): RuleNote[] => [
  ...outputNotes(name, `output 0 (${element}, paid back)`, {
    address: 'the address it was spent from, byte for byte',
    tokens: 'the tokens it held',
    datum,
    datumStops,
  }),
]

export const queueNotes: readonly RuleNote[] = [
  note(
    'init-mints-root-only',
    'exactly one root is minted, and nothing else under the policy',
    'block tokens without a commit',
  ),
  note(
    'init-spends-no-element',
    'nothing is spent from the queue',
    'moving elements of the queue under the cover of an init',
  ),
  note(
    'init-not-running',
    'the registry is spent and said that its queue did not run, or it starts in this transaction',
    'a second root',
  ),
  note(
    'init-registry-notes',
    'the registry, paid back, names this policy and says that it runs; its own rules ask for the administrator',
    'a root that the registry does not know, and so a second one later',
  ),
  note(
    'init-state-well-formed',
    'the confirmed state is constructor 0 with six fields: two hashes of 28 bytes, a root of 32, start ≤ end, version from 0 to 2^32 − 1',
    'a root that nobody can commit to, or too large to spend',
  ),
  ...outputNotes('init-root', 'output 1', {
    address: "the script's address, without staking part",
    tokens: 'the root',
    datum: 'the confirmed state and no link',
    datumStops: 'a queue that starts with a link to a missing block',
  }),
  note('deinit-by-administrator', 'the administrator authorises it', 'anybody else burning the queue'),
  note(
    'deinit-leaves-no-token',
    'no output holds a token of the policy',
    'taking a token out of the queue, and minting one',
  ),
  note(
    'deinit-registry-notes',
    'if the root is burned, the registry, paid back, says that the queue does not run',
    'ending a queue in such a way that none can be started again',
  ),
  note(
    'commit-token-name',
    'the minted token is `MBLC` and the Blake2b-224 of the header, computed by the script',
    'a block whose token names another header',
  ),
  note(
    'commit-mints-block-only',
    'one such token is minted, and nothing else under the policy',
    'a second root or block outside the list',
  ),
  note(
    'commit-spends-one-element',
    'one output is spent from the queue',
    'moving other elements of the queue in the same transaction',
  ),
  note(
    'commit-spends-genuine-element',
    'it holds a token of the policy',
    'a second list behind an output that anybody paid to the address',
  ),
  note('commit-extends-last-element', 'it links to no block', 'a fork'),
  note(
    'commit-prev-header-hash',
    "the header names its predecessor: the block's hash, or the hash in the confirmed state",
    'a header that belongs to another chain',
  ),
  note(
    'commit-prev-utxos-root',
    "the header starts from the predecessor's ledger root",
    'a block on another ledger',
  ),
  note('commit-start-time', 'the block starts when its predecessor ends', 'gaps and overlaps in time'),
  note(
    'commit-end-time',
    "the block ends at the transaction's upper validity bound",
    'ending a block in the past, so that it matures at once',
  ),
  note('commit-positive-duration', 'it starts before it ends', 'a chain whose time stops or runs backwards'),
  note(
    'commit-header-shape',
    'the header is constructor 0 with ten fields',
    'headers that off-chain code cannot read, or of any size',
  ),
  note(
    'commit-root-lengths',
    "the block's ledger root and transactions root have 32 bytes",
    'the same, and blocks that cannot be merged',
  ),
  note(
    'commit-no-events',
    'deposits root and withdrawals root are the empty root',
    'deposits and withdrawals, which nothing checks yet',
  ),
  note(
    'commit-protocol-version',
    "the version is the script's parameter",
    'headers that verdict policies, archivists and later versions would read differently',
  ),
  note('commit-signed-by-operator', "the header's operator signs", "committing in another operator's name"),
  note(
    'commit-in-turn',
    'that operator is in turn at the lower validity bound, by the registry among the reference inputs; operators count from `active_from` on and before `active_until`',
    'blocks of unregistered operators, out of turn, before an operator counts and afterwards',
  ),
  note(
    'commit-within-one-turn',
    'the validity interval lies in one turn',
    "using another operator's turn, and a block that ends far in the future and stops the chain until then",
  ),
  ...continuingNotes(
    'commit-continues',
    'the predecessor',
    'its content unchanged, and a link to the new block',
    'rewriting a block or the confirmed state, and a link to another block',
  ),
  leastAda('commit-continues', 'output 0 holds at least its ada', 'taking ada of an earlier operator'),
  ...outputNotes('commit-appends', 'output 1', {
    address: "the predecessor's address",
    tokens: 'the new token',
    datum: 'the header and no link',
    datumStops: 'a new block that links to a missing one',
  }),
  note(
    'merge-spends-two-elements',
    'two outputs are spent from the queue',
    'moving other elements of the queue in the same transaction',
  ),
  note(
    'merge-spends-genuine-root',
    'one of them holds the root, under the policy',
    'merging into a forged root, or into a block',
  ),
  note('merge-oldest-block', 'the root links to the other', 'merging a later block first'),
  note(
    'merge-follows-confirmed-state',
    'its header names the confirmed state as its predecessor',
    'merging a block whose predecessor was removed',
  ),
  note(
    'merge-burns-block-only',
    "the block's token is burned, and nothing else minted or burned under the policy",
    'keeping or minting block tokens outside the list',
  ),
  note(
    'merge-mature',
    "the block's end plus the maturity window is not after the lower validity bound",
    'confirming a block before it can be challenged',
  ),
  ...continuingNotes(
    'merge-continues',
    'the root',
    "the block's header hash, previous hash, ledger root, times and version, and its link",
    'any other confirmed state, and cutting off the rest of the queue',
  ),
  leastAda('merge-continues', 'output 0 holds at least its ada', "taking the root's ada"),
  ...outputNotes('merge-refunds', 'output 1', {
    address: "the key address of the block's operator, without staking part",
    addressStops: "paying the operator's ada to somebody else",
    tokens: 'ada',
    tokensStops: 'foreign tokens that raise the ada that the operator has to lock',
    datum: "the block's header hash",
    datumStops: 'counting the refund as a payment of another contract as well',
  }),
  leastAda('merge-refunds', "it holds at least the block's ada", "taking the operator's ada"),
  note(
    'remove-spends-two-elements',
    'two outputs are spent from the queue',
    'moving other elements of the queue in the same transaction, and removing two blocks by one verdict',
  ),
  note(
    'remove-spends-genuine-predecessor',
    'the predecessor holds a token of the policy',
    'removing a block behind a forged element, so that the list keeps a link to nothing',
  ),
  note(
    'remove-spends-genuine-block',
    'the block holds a token of the policy',
    "slashing whom a forged element names: a genuine one's operator signed its header",
  ),
  note(
    'remove-follows-predecessor',
    'the predecessor links to the block that the redeemer names',
    'removing a block that another element links to',
  ),
  note(
    'remove-burns-block-only',
    "that block's token is burned, and nothing else minted or burned under the policy",
    'keeping or minting block tokens outside the list',
  ),
  note(
    'remove-by-administrator',
    'if the approach is `by-administrator`, the administrator authorises it',
    'anybody else removing blocks without a verdict, and a fraudster who proves the fraud and is spared',
  ),
  note(
    'remove-by-verdict',
    "for any other approach, a token named by the block's header hash, under one of the verdict policies, is minted in the transaction or held by a reference input",
    'removing a valid block, and slashing an honest operator: a verdict against another block, of another policy, or a burned one',
  ),
  note(
    'remove-slashes-operator',
    "for `active` and `retired`, the registry is spent with the redeemer `slash` of the block's operator and the same approach",
    "slashing somebody else, sparing the block's operator, and approaches that do not exist",
  ),
  note(
    'remove-already-slashed',
    "for `already-slashed`, the registry is a reference input, and the block's operator has no entry in it",
    'sparing an operator who could be slashed',
  ),
  ...continuingNotes(
    'remove-continues',
    'the predecessor',
    "its content unchanged, and the removed block's link",
    'rewriting the predecessor, and cutting off the blocks behind the removed one',
  ),
  leastAda('remove-continues', 'output 0 holds at least its ada', "taking the predecessor's ada"),
  note(
    'prune-walks-links',
    'each block that the redeemer lists holds one token, of the policy, with the name that the link of the one before it says',
    'leaving out a block of the list, so that nothing leads to it, and forged blocks',
  ),
  note(
    'prune-stale-only',
    "each block's header names another predecessor than the element: its hash, or the hash in the confirmed state",
    'burning a block that follows the one before it',
  ),
  note(
    'prune-spends-genuine-element',
    'the element before the blocks holds a token of the policy',
    'blocks being stale behind an element that anybody made up',
  ),
  note(
    'prune-meets-all-spent',
    'as many outputs are spent from the queue as the redeemer lists; links lead forward in time, so none is listed twice',
    'burning a block that nothing is known of',
  ),
  note(
    'prune-leaves-no-token',
    'no output but output 0 holds a token of the policy, so the tokens of all blocks are burned',
    'taking a token out of the queue, and minting one',
  ),
  ...continuingNotes(
    'prune-continues',
    'the element',
    "its content unchanged, and the last block's link",
    'rewriting the element, and cutting off the blocks behind the pruned ones',
  ),
  leastAda('prune-continues', 'output 0 holds at least its ada', "taking the element's ada"),
  note(
    'spend-under-policy',
    'the policy mints or burns in the same transaction, and so judges it',
    'spending an element without any action',
  ),
]

export const registryNotes: readonly RuleNote[] = [
  note(
    'registry-init-spends-deployment-output',
    'the output that the script names as a parameter is spent',
    'a second registry, in which a committer is alone',
  ),
  note(
    'registry-init-by-administrator',
    'the administrator authorises it, or is renounced',
    'somebody else starting the registry, if the deployment output is theirs',
  ),
  note(
    'registry-init-mints-token-only',
    'exactly one token is minted, and nothing else under the policy',
    'a second registry in the same transaction',
  ),
  note(
    'registry-init-names-queue',
    'the datum names a queue: 28 bytes',
    'a registry that no queue can ever belong to',
  ),
  note(
    'registry-init-starts-queue',
    "if the administrator is renounced, that queue's root is minted in the same transaction",
    'a stranger who starts the queue with a state of their own: nobody else may say which one is right',
  ),
  ...outputNotes('registry-init', 'output 0', {
    address: "the script's address, without staking part",
    tokens: "the registry's token",
    datum:
      'a registry without operators, which names a queue and says that it does not run (that it runs, if the administrator is renounced)',
    datumStops: 'operators who deposited no bond, and a registry whose queue can never start',
  }),
  note(
    'registry-deinit-by-administrator',
    'the administrator authorises it',
    'anybody else ending the registry',
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
    'a deinit also burns under the policy, and so is judged by it',
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
    'a stranger who buys the power to commit with one refundable bond, or fills the registry',
  ),
  note(
    'register-once',
    'the operator has no entry yet',
    'two turns for one operator, and two bonds that `release` cannot tell apart',
  ),
  note(
    'register-below-maximum',
    'fewer than `max_operators` operators have not retired',
    'turns that come round too rarely',
  ),
  note(
    'register-datum-bounded',
    'there are fewer than twice as many entries, retired ones included',
    'a datum too large to spend',
  ),
  ...continuingNotes(
    'register-continues',
    'the registry',
    'the old one with the operator in front, who counts from the turn after next (at once while the queue does not run), and the bond that the parameters state',
    'changing the operator of the turn in progress or the next, and changing other entries',
  ),
  leastAda('register-continues', 'output 0 holds the old ada plus the bond', 'registering without a bond'),
  note(
    'retire-by-operator-or-administrator',
    'the operator signs, or the registry is permissioned and the administrator authorises it',
    'anybody else retiring an operator',
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
    "the old one, where the operator's entry ends with the next turn (at once while the queue does not run)",
    'an early release, changing the operator of the turn in progress or the next, and changing other entries',
  ),
  leastAda('retire-continues', 'output 0 holds at least the old ada', 'taking a bond while it is locked'),
  note(
    'release-signed-by-operator',
    'the operator named by the redeemer signs',
    'anybody else, the administrator included, taking the bond',
  ),
  note(
    'release-not-early',
    'the operator has retired, and `active_until` plus the release delay is not after the lower validity bound',
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
    "the policy of the registry's queue runs with the redeemer `remove` and the same approach; its rules ask for the verdict and name the operator",
    'slashing without a verdict: beside a removal by the administrator, a pruning, a merge, another queue, or nothing at all',
  ),
  note(
    'slash-approach',
    'the approach is `active` if the operator has not retired, and `retired` otherwise',
    'redeemers that tell something else than what happens',
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
    'a registry that says that no queue runs while the root exists, and so a second root; a start without a root',
  ),
  ...continuingNotes(
    'set-queue-continues',
    'the registry',
    'the operators and the queue unchanged, and whether it runs',
    'changing operators under the cover of an init, and another queue, which could slash whom it likes',
  ),
  leastAda('set-queue-continues', 'output 0 holds at least the old ada', 'taking bonds'),
]
