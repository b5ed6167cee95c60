import { note, type RuleNote } from '../../rule-notes.js'

const proven = 'its bond would be lost by'

/** The texts of `RULES.md` about the rules of lengths and chunks. */
export const chunkNotes: readonly RuleNote[] = [
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
