import { note, type RuleNote } from '../../rule-notes.js'

/** The texts of `RULES.md` about the rules of lengths and chunks. */
const proven = 'its bond would be lost by'

const chunkNotes: readonly RuleNote[] = [
  note(
    'witness-set-is-recorded',
    'the witness set’s Blake2b-256 is that in the record',
    `an honest operator: ${proven} a witness set that belongs to another transaction`,
  ),
  note(
    'length-is-wrong',
    'the length of the body, or of the witness set, is not that in the record',
    'proofs of a length that is right',
  ),
  note(
    'transaction-is-too-long',
    'the record has more bytes of the body, or of the witness set, than layer 2 allows',
    'proofs of transactions that layer 2 allows',
  ),
  note(
    'chunk-is-in-block',
    'the transactions map has the chunk’s record under its number',
    `an honest operator: ${proven} an invented record`,
  ),
  note(
    'chunk-is-recorded',
    'the Blake2b-256 of the chunk’s parts, one behind the other, is that in its record',
    `an honest operator: ${proven} bytes that are not those of the chunk`,
  ),
  note(
    'transaction-is-in-chunk',
    'the place is from 0 and before the end of the chunk',
    'proofs by a transaction of another chunk',
  ),
  note('chunk-counts-differ', 'two chunks have other numbers of chunks', 'proofs by chunks that agree'),
  note(
    'chunk-is-misplaced',
    'the chunk’s number is not below the number of chunks, or it is the first and begins behind position 0',
    'proofs by chunks that are where they must be',
  ),
  note('chunk-is-missing', 'the transactions map lacks the number', 'proofs of a chunk that is there'),
  note(
    'chunk-is-due',
    'the number is below the number of chunks of a chunk, or is 0 and there is a transaction',
    'proofs by numbers behind the last chunk',
  ),
  note('chunk-is-next', 'the second chunk has the next number', 'proofs by any two chunks'),
  note(
    'next-chunk-begins-elsewhere',
    'the next chunk does not begin at the position behind the last transaction of the chunk',
    'proofs by chunks that follow each other',
  ),
  note('chunk-is-last', 'the chunk’s number is the last', 'proofs by transactions of later chunks'),
  note(
    'transaction-is-behind-chunk',
    'the position of the transaction is behind the chunk; for one that fits, the first behind it',
    'proofs by transactions of the chunk',
  ),
  note(
    'position-is-in-chunk',
    'the position is before the end of the chunk',
    'proofs by positions that no transaction has',
  ),
  note(
    'transaction-is-another',
    'the hash or the length of the body or of the witness set is not that in the record',
    'proofs by the transaction that the chunk must have',
  ),
  note(
    'rest-does-not-follow',
    'what is behind the witness set is not true and the auxiliary data of the body’s hash, or true and null',
    'proofs by what must be there',
  ),
  note(
    'chunk-is-malformed',
    'the chunk has no transaction, does not end with a frame, has more than one transaction and more than ' +
      '12,288 bytes, or more than 16,395 bytes',
    'proofs by chunks that are well-formed',
  ),
  note(
    'rest-follows',
    'what is shown to be behind the witness set follows from the body',
    `an honest operator: ${proven} a transaction that is said to be shorter`,
  ),
  note(
    'chunk-has-room',
    'chunk and transaction have at most 12,288 bytes together',
    'proofs by transactions that do not fit',
  ),
]

/** The texts of `RULES.md` about the rules of the ledger policy. */
export const ledgerFraudNotes: readonly RuleNote[] = [
  note(
    'token-names-what-is-proven',
    'exactly one token is minted under the policy, and its name is the hash of the header in the redeemer; ' +
      'or, for a part of a proof, the hash of what the part shows',
    'a verdict about another block than the proof is of, or by a part of a proof',
  ),
  note(
    'header-is-provable',
    'the header’s block version is 4',
    'a verdict about a header whose transactions root is not that of a transactions map',
  ),
  note(
    'transaction-is-in-block',
    'the transactions map has the record at the position',
    `an honest operator: ${proven} a transaction that the block does not have`,
  ),
  note(
    'record-is-of-transaction',
    'the record is of kind 2',
    'reading the id of a deposit as the hash of a body',
  ),
  note(
    'body-is-recorded',
    'the body’s Blake2b-256 is the id in the record',
    `an honest operator: ${proven} a body that belongs to another transaction`,
  ),
  note(
    'output-record-is-in-block',
    'the transactions map has the record under the output’s reference, or lacks it if no record is given',
    `an honest operator: ${proven} an invented record or a false absence`,
  ),
  note(
    'output-record-has-its-length',
    'a record that is given has 48 bytes',
    'reading the record of a transaction as that of an output',
  ),
  note(
    'output-hash-is-proven',
    'the header’s map of unspent outputs, before or after the block, of deposits or of withdrawals has the ' +
      'hash under the reference, or lacks it if no hash is given',
    `an honest operator: ${proven} an invented output or a false absence`,
  ),
  note(
    'input-is-spent-elsewhere',
    'the record of what the input names has another spender than the transaction, or there is no record',
    'proofs of an input that is recorded as it must be',
  ),
  note(
    'spender-is-noted',
    'the record names the shown transaction as the spender',
    'proofs by an unrelated transaction',
  ),
  note(
    'spender-lacks-input',
    'no input of the spender is the reference',
    'proofs of an output that its spender spends',
  ),
  note(
    'spender-is-missing',
    'the transactions map lacks the position of the spender; an unspent output has none and fails',
    'proofs of an output whose spender is in the block',
  ),
  note(
    'output-stays',
    'the record does not say that the output leaves layer 2',
    'proofs of an output that leaves, and has no spender',
  ),
  note(
    'output-leaves',
    'the record says that the output leaves layer 2',
    'proofs of an output that has a spender, or is unspent',
  ),
  note(
    'output-is-not-owed',
    'the map of withdrawals lacks the output’s hash',
    'proofs of an output that layer 1 owes',
  ),
  note(
    'output-is-in-body',
    'the body has an output at the index',
    'proofs of outputs that no transaction makes, which have no record',
  ),
  note(
    'output-is-not-noted',
    'the record names another maker or another hash, or there is no record',
    'proofs of an output that is recorded as it must be',
  ),
  note(
    'maker-is-missing',
    'the transactions map lacks the position of the maker; an older output has none and fails',
    'proofs of an output whose maker is in the block',
  ),
  note(
    'maker-is-noted',
    'the record names the shown transaction as the maker',
    'proofs by any transaction with another id',
  ),
  note(
    'maker-has-another-id',
    'the id in the maker’s record is not the one in the reference',
    'proofs of an output of its maker',
  ),
  note(
    'invented-output-is-noted',
    'the output has a record',
    'proofs of an output that neither the maker nor the block has',
  ),
  note(
    'key-is-of-maker',
    'the reference is the maker’s id and the index that is shown not to exist',
    'proofs of an output that exists, by an index that does not',
  ),
  note(
    'maker-has-fewer-outputs',
    'the maker’s body has no output at the index',
    'proofs of an output that its maker makes',
  ),
  note(
    'output-is-noted',
    'the output has a record',
    'proofs of outputs that the block leaves alone, which have no record',
  ),
  note(
    'output-is-from-before',
    'the record has no maker',
    'proofs of outputs that the block makes: they are not unspent before it',
  ),
  note(
    'output-was-not-deposited',
    'the map of deposits lacks the hash of the record',
    'proofs of an output that a deposit has become',
  ),
  note(
    'output-was-not-there',
    'the record has no spender, or the output’s hash before the block is not that of the record, or it was ' +
      'not unspent',
    'proofs of an output that was there',
  ),
  note(
    'output-is-spent',
    'the record has a spender',
    'proofs of unspent outputs, whose spender’s number is 0',
  ),
  note(
    'output-is-spent-before-made',
    'the spender is the maker, or a transaction before it',
    'proofs of an output that is spent after it is made',
  ),
  note(
    'path-is-of-leaf',
    'the path has 32 bytes, of which the last 24 are not all below 16',
    'an honest operator: proofs that read a branch as a leaf, or a part of the path as one of the hash',
  ),
  note(
    'after-does-not-follow',
    'after the block, the output is not what follows: absent if recorded as spent, the recorded hash if ' +
      'made and unspent, unchanged without a record',
    'proofs of an output that is as it must be',
  ),
  note(
    'hashes-are-recorded',
    'the Blake2b-256 of the hashes is the one in the transaction’s record',
    `an honest operator: ${proven} invented hashes`,
  ),
  note(
    'recorded-hash-is-wrong',
    'the hash at the index is not that of the output’s record or, without one, of before the block',
    'proofs of a hash that is right',
  ),
  note(
    'part-is-shown',
    'the reference input holds the token of this policy about the transaction, the references from the ' +
      'last part’s end on, and these hashes; the last part’s token says that no reference follows',
    `an honest operator: ${proven} invented hashes, or those of other references`,
  ),
  note(
    'resolved-is-wrong',
    'the Blake2b-256 of the hashes of all outputs that inputs and reference inputs name, each from its ' +
      'record or, without one, from before the block, is not the one in the transaction’s record',
    'proofs of a hash that is right',
  ),
  note(
    'reference-input-is-missing',
    'the output is made by the transaction or later, spent before it, or leaves layer 2; or, without a ' +
      'record, was not unspent before the block',
    'proofs of a reference input that is there',
  ),
  note(
    'position-is-missing',
    'the transactions map lacks the position',
    'proofs of a gap where there is a transaction',
  ),
  note(
    'position-is-before-transaction',
    'the position is smaller than that of a transaction in the block',
    'proofs by positions after the last transaction',
  ),
  note(
    'entry-is-in-block',
    'the transactions map has the entry, whose key and value are shown in parts',
    `an honest operator: ${proven} an invented entry`,
  ),
  note(
    'entry-is-strange',
    'the key is neither 8 bytes with a transaction’s record (113 bytes, kind 2), nor 4 bytes with a ' +
      'chunk’s record (49 bytes, kind 3) that counts at most 1,024, nor a reference in its shortest form ' +
      'with an output’s record (48 bytes)',
    'proofs by the entries that every block has',
  ),
  note(
    'fees-before-are-those-before',
    'the previous record is at the position before; without one, the transaction is the first',
    'proofs that leave transactions out of the sum',
  ),
  note(
    'fees-so-far-are-wrong',
    'the fees of the record are not those of the previous record and the fee in the body',
    'proofs of fees that are right',
  ),
  ...chunkNotes,
]
