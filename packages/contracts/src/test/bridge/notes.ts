import { leastMerged } from '../../layout.js'
import { leastAda, note, outputNotes, type RuleNote } from '../rule-notes.js'

const settleNotes: readonly RuleNote[] = [
  note(
    'settle-mints-one',
    'exactly one token is minted, named by the hash in the name of a block that is spent, and nothing ' +
      'else under the policy',
    'settlements that no block owes',
  ),
  note(
    'settle-by-merge',
    'the queue that the registry names runs `merge`',
    'a settlement of a block that is removed or pruned',
  ),
  ...outputNotes('settle', 'output 2', {
    address: "the script's address, without staking part",
    tokens: 'the token',
    tokensStops: 'foreign tokens that make the settlement too large to spend',
    datum: "the header's withdrawals root, and the block's end",
    datumStops: 'paying what did not leave, and from deposits that later blocks credit',
  }),
]

const spendNotes: readonly RuleNote[] = [
  note(
    'follow-at-bridge',
    'the input that leads is at the bridge',
    'taking the treasury by an action of another script that has the same number',
  ),
  note('follow-leader', 'it pays or tidies', 'taking the treasury under no rule'),
  note(
    'pay-genuine-settlement',
    "the input that pays holds one token of the bridge's policy, and nothing else",
    'paying by a forged settlement, and tokens that make the settlement too large to spend',
  ),
  note('pay-some', 'at least one entry is paid', 'keeping others from the settlement at no cost'),
  note(
    'pay-owed-only',
    'the proof of each entry leads to the root of the settlement, or to that behind the entry before',
    'paying what is not owed, another value, or an entry twice',
  ),
  note(
    'pay-leaves-map',
    'if the last step of its proof is a branch, two other children are shown',
    'leaving a branch with one child, about which no other proof can be made: nothing else would be paid',
  ),
  note(
    'pay-burns-settlement',
    "if nothing is owed any more, the settlement's token is burned",
    'a token without a settlement',
  ),
  note('pay-ends-with-ada', 'then output 0 holds only ada', 'taking assets of the treasury'),
  ...outputNotes('pay-continues', 'otherwise output 0 (the settlement, paid back)', {
    address: 'the address it was spent from, byte for byte',
    tokens: 'the token it held',
    datum: 'the root without the entries, and the time it had',
    datumStops: 'paying an entry again, dropping others, and taking later deposits',
  }),
  leastAda('pay-continues', 'it holds at least its ada', "taking the settlement's ada"),
]

const paymentNotes: readonly RuleNote[] = [
  note(
    'withdrawal-at-bridge',
    "the withdrawal is at the bridge's address, without staking part",
    'paying an output that a malicious operator moved off layer 2 to whom its datum names',
  ),
  note(
    'withdrawal-datum',
    'its datum is inline, and one byte string in its shortest form: an address of 29 or 57 bytes, or one ' +
      'of 29 and a hash of 32',
    'paying to another address than its author means',
  ),
  note('withdrawal-no-script', 'it has no reference script', 'leaving a script behind: it could not be paid'),
  note(
    'withdrawal-bridged-only',
    'all of its assets are of policies that the bridge backs',
    'paying out event tokens and others that a lie on layer 2 has made',
  ),
  note(
    'payment-assets',
    'the payment holds the assets of the withdrawal, and no others',
    'keeping assets, paying others, and taking more from the treasury',
  ),
  note(
    'payment-address',
    'it is at the address that the datum names, with its staking part',
    'paying another',
  ),
  note(
    'payment-datum',
    'it has the hash that the datum names, or no datum',
    'paying a script in a way that no one can spend',
  ),
  note('payment-no-script', 'it has no reference script', 'raising the ada that the output locks'),
  leastAda(
    'payment',
    "it holds at least the withdrawal's lovelace, less the payout fee",
    'keeping more than the payout fee',
  ),
]

const treasuryNotes: readonly RuleNote[] = [
  note(
    'treasury-is-confirmed',
    'every other input at the bridge is a reserve or a deposit that is older than the settlement; of ' +
      'tidying, every input there is a deposit that is older than the confirmed state, or a reserve if a ' +
      'reserve leads',
    'spending a deposit that no merged block credits, which is the evidence of it; a second settlement',
  ),
  note(
    'tidy-many',
    `tidying that a reserve leads takes at least ${leastMerged} outputs of the treasury`,
    'merging reserves again and again so that others have to wait',
  ),
  note(
    'treasury-keeps-assets',
    'every output behind the payments that is not at the bridge holds only ada',
    'taking assets of the treasury, and event tokens, which would show false deposits',
  ),
  note(
    'treasury-mints-nothing',
    'no policy that the bridge backs mints or burns',
    'burning assets of the treasury under a policy that lets anyone burn',
  ),
  note(
    'treasury-balances',
    'the inputs of the treasury have no more ada than what is paid is owed, and the reserves among the ' +
      'outputs, together',
    'taking ada of the treasury',
  ),
  note(
    'reserve-count',
    'tidying makes one reserve at most, and a payout no more than it takes outputs of the treasury',
    'splitting the treasury into outputs that are too many to pay with',
  ),
  note('reserve-address', 'a reserve has no staking part', 'earning rewards with the money of others'),
  note(
    'reserve-no-datum',
    'a reserve has no datum',
    'locking it for ever, and false deposits and settlements',
  ),
  note(
    'reserve-no-script',
    'a reserve has no reference script',
    'making every later transaction pay for reading a large script',
  ),
  leastAda(
    'reserve',
    'it holds at least `reserve_min`, unless it is the first of a payout',
    'splitting the treasury into outputs that are too small to pay with',
  ),
]

/** The texts of `RULES.md` about the rules of the bridge. */
export const bridgeNotes: readonly RuleNote[] = [
  ...settleNotes,
  ...spendNotes,
  ...paymentNotes,
  ...treasuryNotes,
]

/** The texts of `RULES.md` about the rules of events. */
export const eventNotes: readonly RuleNote[] = [
  note(
    'event-mints-one',
    "exactly one token is minted, named by the Blake2b-256 of the first input's reference, and nothing " +
      'else under the policy',
    'several deposits for one payment, and tokens that show deposits elsewhere',
  ),
  note(
    'event-holds-token',
    'output 0 holds the token, and no other of the policy',
    'deposits that no one finds, and a token that is hidden in another deposit',
  ),
  note(
    'event-at-bridge',
    "output 0 is at the bridge's address, without staking part",
    'crediting money that the bridge does not get',
  ),
  note('event-no-script', 'it has no reference script', 'payouts that pay for reading a large script'),
  note('event-has-id', 'its datum has the id that the token names', 'crediting a deposit under another id'),
  note(
    'event-time',
    'its time is the upper validity bound plus `event_wait`',
    'a deposit of a block that was committed before operators could see it',
  ),
  note(
    'deposit-shape',
    'the datum is constructor 0 with five fields',
    'deposits that no one can decode, which would stop layer 2; false settlements',
  ),
  note(
    'deposit-bridged-only',
    'all assets besides are of policies that the bridge backs',
    'assets of which layer 2 could make more',
  ),
  note(
    'deposit-few-assets',
    'there are at most 100 policies and assets together',
    'outputs of layer 2 that no transaction may spend',
  ),
  note(
    'deposit-address',
    'the layer-2 address is of type 0 to 3 with 57 bytes, or 6 or 7 with 29, and of the network',
    'outputs that layer 2 cannot decode, and those at a pointer or for another network',
  ),
  note(
    'deposit-not-to-bridge',
    "its first hash is not the bridge's",
    'outputs that would have to leave in the block that credits them',
  ),
  note(
    'deposit-datum',
    'there is no layer-2 datum, a hash of 32 bytes, or inline data of at most 2,000 bytes, and no other ' +
      'field',
    'outputs that layer 2 cannot decode, because their datum is nested too deep, and deposits of several ' +
      'encodings',
  ),
  note(
    'deposit-output-hash',
    'the last field is the Blake2b-256 of the layer-2 output that the script writes: address, ada, assets ' +
      'and datum',
    'crediting another amount or recipient than was deposited',
  ),
]
