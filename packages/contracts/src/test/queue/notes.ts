import { continuingNotes, leastAda, note, outputNotes, type RuleNote } from '../rule-notes.js'

export const queueNotes: readonly RuleNote[] = [
  note(
    'init-mints-root-only',
    'exactly one root is minted, and nothing else under the policy',
    'block tokens without a commit',
  ),
  note(
    'init-spends-no-element',
    'nothing is spent from the queue',
    'moving elements of the queue in an init',
  ),
  note(
    'init-not-running',
    'the registry is spent and stated that its queue did not run, or it starts in this transaction',
    'a second root',
  ),
  note(
    'init-registry-notes',
    'the registry, paid back, names this policy and states that it runs',
    'a root that the registry does not know, and so a second one later',
  ),
  note(
    'init-state-well-formed',
    'the confirmed state is constructor 0 with two hashes of 28 bytes, a root of 32, start ≤ end, ' +
      'and a version from 0 to 2^32 − 1',
    'a root that no commit can follow, or too large to spend',
  ),
  ...outputNotes('init-root', 'output 1', {
    address: "the script's address, without staking part",
    tokens: 'the root',
    datum: 'the confirmed state and no link',
    datumStops: 'a queue that starts with a link to a missing block',
  }),
  note('deinit-by-administrator', 'the administrator authorises it', 'burning the queue without authority'),
  note(
    'deinit-leaves-no-token',
    'no output holds a token of the policy',
    'taking a token out of the queue, and minting one',
  ),
  note(
    'deinit-registry-notes',
    'if the root is burned, the registry, paid back, states that the queue does not run',
    'ending a queue so that none can start again',
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
    'a second list behind an output without a token',
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
    'commit-event-roots',
    'deposits root and withdrawals root have 32 bytes; without a bridge they are the empty root',
    'blocks that cannot be merged; money from nowhere, and outputs that vanish, where there is no bridge',
  ),
  note(
    'commit-block-version',
    "the version is the script's parameter",
    'headers that verdict policies, archivists and later versions read differently',
  ),
  note('commit-signed-by-operator', "the header's operator signs", "committing in another operator's name"),
  note(
    'commit-in-turn',
    'by the registry among the reference inputs, that operator is in turn at the lower validity bound; ' +
      'or it counts in this turn, the predecessor ended `takeover_after` before that bound or earlier, and ' +
      'the upper bound is at most `takeover_after` later; operators count from `active_from` on and before ' +
      '`active_until`',
    'blocks of unregistered operators, blocks out of turn; taking over for the rest of a turn',
  ),
  note(
    'commit-within-one-turn',
    'the validity interval lies in one turn',
    "using another operator's turn, and a block that ends far in the future and blocks the chain",
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
    'merge-settles',
    "if the withdrawals root is not the empty root, the bridge mints one token of the header's hash",
    'confirming a block without owing what leaves layer 2 by it',
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
    addressStops: "paying the operator's ada to another address",
    tokens: 'ada',
    tokensStops: 'foreign tokens that raise the ada that the operator has to lock',
    datum: "the block's header hash",
    datumStops: 'counting the refund as a payment of another contract too',
  }),
  leastAda(
    'merge-refunds',
    "it holds at least the block's ada, less 1.5 ada for a settlement if one is owed",
    "taking the operator's ada",
  ),
  note(
    'remove-spends-two-elements',
    'two outputs are spent from the queue',
    'moving other elements of the queue in the same transaction, and removing two blocks by one verdict',
  ),
  note(
    'remove-spends-genuine-predecessor',
    'the predecessor holds a token of the policy',
    'removing a block behind a forged element, which leaves a link to a missing block',
  ),
  note(
    'remove-spends-genuine-block',
    'the block holds a token of the policy',
    'slashing an operator named by a forged element, whose header the operator did not sign',
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
    'removals without a verdict by others, and removals that spare a fraudulent operator',
  ),
  note(
    'remove-by-verdict',
    'otherwise a token under a verdict policy, named by the header hash, is minted in the transaction or ' +
      'held by a reference input',
    'removing a valid block and slashing an honest operator, by a verdict against another block, ' +
      'of another policy, or a burned one',
  ),
  note(
    'remove-slashes-operator',
    'for `active` and `retired`, the registry is spent with `slash`, the operator of the block ' +
      'and the same approach',
    "slashing another operator, sparing the block's operator, and unknown approaches",
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
    'each block that the redeemer lists holds one token of the policy, named by the link before it',
    'leaving out a block, which makes it unreachable, and forged blocks',
  ),
  note(
    'prune-stale-only',
    "each block's header names another predecessor than the element, or than the confirmed state",
    'burning a block that follows the one before it',
  ),
  note(
    'prune-spends-genuine-element',
    'the element before the blocks holds a token of the policy',
    'blocks that are stale behind a forged element',
  ),
  note(
    'prune-meets-all-spent',
    'the queue spends as many outputs as the redeemer lists; links lead forward in time, so none repeats',
    'burning a block that no rule has checked',
  ),
  note(
    'prune-leaves-no-token',
    'only output 0 holds a token of the policy, so the tokens of all blocks are burned',
    'taking a token out of the queue, and minting one',
  ),
  ...outputNotes('prune-refunds', "the output at each block's place in the list, from 1 on,", {
    address: "the key address of the block's operator, without staking part",
    addressStops: "paying the operator's ada to another address",
    tokens: 'ada',
    tokensStops: 'foreign tokens that raise the ada that the operator has to lock',
    datum: "the block's header hash",
    datumStops: 'counting the refund as that of another block, or as a payment of another contract too',
  }),
  leastAda('prune-refunds', "it holds at least the block's ada", "taking the operator's ada"),
  ...continuingNotes(
    'prune-continues',
    'the element',
    "its content unchanged, and the last block's link",
    'rewriting the element, and cutting off the blocks behind the pruned ones',
  ),
  leastAda('prune-continues', 'output 0 holds at least its ada', "taking the element's ada"),
  note(
    'spend-under-policy',
    'the policy mints or burns in the same transaction, so its rules apply',
    'spending an element without any action',
  ),
]
