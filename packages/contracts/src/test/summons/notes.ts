import { note, type RuleNote } from '../rule-notes.js'

export const summonsNotes: readonly RuleNote[] = [
  note(
    'ask-header-is-provable',
    'the header has the block version whose maps the script can read',
    'an honest operator: questions about maps of another form',
  ),
  note(
    'ask-mints-token-only',
    'one token is minted for each question, named by its hash, and nothing else under the policy',
    'verdicts without a question, and tokens for questions that were answered',
  ),
  note(
    'ask-address',
    "the first outputs, in the order of these names, are at the script's address, without staking part",
    'questions that no one finds or can answer',
  ),
  note('ask-tokens', 'each holds its token, and no other', 'questions too large to be answered'),
  note('ask-no-script', 'it has no reference script', 'answers that pay for reading a large script'),
  note('ask-bond', 'each holds at least the bond', 'answers without a reward'),
  note(
    'ask-kind',
    'the question is about a chunk, a subtree, a leaf or an entry',
    'questions without an answer',
  ),
  note(
    'ask-question-form',
    'the datum has the six fields and no other, and names the hash of the header and a deadline one period ' +
      'after the validity interval',
    'questions too large to be answered, or that end before they can be, and verdicts against other headers',
  ),
  note(
    'ask-key-length',
    'the key has 4 bytes for a chunk, and 33 for a node',
    'questions too large to be answered, and chunks that cannot exist',
  ),
  note('ask-refund-length', 'the refund is to a hash of 28 bytes', 'a bond that no output can return'),
  note(
    'ask-of-map',
    'the root is that of outputs after the block, transactions, deposits or withdrawals; for a chunk, ' +
      'of transactions',
    'questions about fields that are no roots of the block',
  ),
  note('ask-is-not-empty', 'the node is there: its hash is not 32 zero bytes', 'questions without an answer'),
  note(
    'ask-of-node',
    'steps lead from the root to the node at the depth; a chunk names the transactions root',
    'questions without an answer: about nodes that the map does not have',
  ),
  note(
    'ask-after-block',
    'the validity interval ends no earlier than the block, so than any commit of it',
    'verdicts against a block that is not committed yet, whose header a stranger has guessed',
  ),
  note(
    'ask-in-time',
    'the deadline and another period end before the block may be merged',
    'verdicts that come too late for a removal',
  ),
  note(
    'verdict-beside-question',
    'an output at the script’s address is spent, whose rules say what is minted',
    'verdicts without a question',
  ),
  note(
    'settle-alone',
    'no other output with an equal question is spent',
    'one burned token for two equal questions, and a token that is left to ask again what was answered',
  ),
  note(
    'settle-burns-question',
    "one token with the name of the question's hash is burned",
    'verdicts from outputs that never were a question, and tokens that are left',
  ),
  note(
    'settle-refund-address',
    'the refund is paid to the key of the question, without staking part',
    'taking the bond',
  ),
  note(
    'settle-refund-datum',
    "its inline datum is the question's hash",
    'one payment that serves another script as well',
  ),
  note(
    'settle-refund-ada',
    'it holds the ada of the question; after an answer, less the rewards of it and its bytes',
    'taking the bond',
  ),
  note(
    'settle-refund-tokens',
    'it holds no tokens',
    'bonds whose return costs their asker the ada that tokens need',
  ),
  note(
    'settle-refund-no-script',
    'it has no reference script',
    'bonds whose return costs their asker the fee of a script',
  ),
  note(
    'answer-mints-nothing',
    'only the question burns',
    'an answer that convicts, and answers that share the fee of a transaction',
  ),
  note(
    'expire-late',
    'the validity interval begins at the deadline or later',
    'an honest operator: verdicts before the answer is due',
  ),
  note(
    'expire-mints-verdict',
    'one verdict is minted against the header of the question',
    'verdicts against other headers',
  ),
  note(
    'expire-mints-verdict-only',
    'nothing else is minted or burned under the policy',
    'verdicts against other headers, and tokens of questions that no one asked',
  ),
  note(
    'expire-keeps-address',
    'the output that holds the verdict is at the address of the question',
    'burning or hiding the verdict before anyone has seen it',
  ),
  note(
    'expire-keeps-tokens',
    'it holds the verdict, and no other token',
    'removals that pay for a large output, and tokens that no one gets back',
  ),
  note(
    'expire-keeps-no-datum',
    'it has no datum, so it is no question and nothing spends it',
    'burning or hiding the verdict, and large datums',
  ),
  note(
    'expire-keeps-no-script',
    'it has no reference script',
    'removals that pay for reading a large script',
  ),
  note(
    'reclaim-stale',
    'a reference input holds a verdict against the header, or the validity interval begins a maturity ' +
      'window behind the deadline or later',
    'ending a question without a verdict while its block can be removed',
  ),
  note('reclaim-mints-nothing', 'the policy only burns', 'verdicts that no output keeps for everyone'),
  note(
    'chunk-is-in-block',
    'the transactions map has the entry under the number of the chunk',
    'answers about another block or chunk',
  ),
  note('chunk-is-shown', 'the parts, in redeemer and datums, have the hash of the entry', 'withheld bytes'),
  note(
    'chunk-is-short',
    'they have at most 16,395 bytes',
    'askers who hold more than a block may have: no valid block has such a chunk',
  ),
  note('chunk-is-absent', 'the transactions map lacks the number', 'withheld bytes'),
  note('branch-answers-subtree', 'a branch answers only a subtree', 'search without an end for a leaf'),
  note(
    'branch-is-in-map',
    'the branch has the hash of the question, nibbles as its prefix, and its fork within a path',
    'answers about another node, and nodes that no proof can reach',
  ),
  note(
    'branch-shows-children',
    'each of the sixteen children is shown as branch or leaf with its hash, or has no hash; at least two ' +
      'have one; a leaf is below its nibbles and has a path as in `path-is-of-leaf`',
    'hidden nodes, nodes that no map has, and a search without a bound',
  ),
  note(
    'leaf-is-below',
    'the path of the leaf begins with the nibbles of the node and is as in `path-is-of-leaf`',
    'leaves that no claim can show',
  ),
  note(
    'leaf-is-asked-for',
    'the leaf is the node; or an entry is asked for, and it is at the path of the question; or a leaf is ' +
      'asked for, and it is not',
    'answers that show the true leaf where there is a false one beside it, and any entry but that asked for',
  ),
  note('leaf-is-in-map', 'the steps lead from the node to the leaf', 'invented leaves'),
  note(
    'absence-answers-entry',
    'an absence answers only an entry',
    'hidden nodes: the path of a leaf or a subtree need not have an entry',
  ),
  note('entry-is-absent', 'the node has no entry at the path of the question', 'hidden entries'),
]
