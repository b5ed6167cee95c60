import { reference, variant } from './reference.js'

/** The types of the redeemer of `wrongChunk`. */
export const chunkProofDefinitions = {
  OpenedChunk: {
    title: 'OpenedChunk',
    description: 'Number, record and proof',
    dataType: 'list',
    items: [reference('Integer'), reference('Bytes'), reference('Proof')],
  },
  ShownChunk: {
    title: 'ShownChunk',
    description: 'Number, record, proof and bytes in parts',
    dataType: 'list',
    items: [reference('Integer'), reference('Bytes'), reference('Proof'), reference('SuppliedList')],
  },
  ChunkHolder: {
    title: 'ChunkHolder',
    anyOf: [
      variant('Chunk', 0, [['chunk', 'OpenedChunk']]),
      variant('Transaction', 1, [['record', 'OpenedRecord']]),
    ],
  },
  AbsentPosition: {
    title: 'AbsentPosition',
    description: 'Position and proof',
    dataType: 'list',
    items: [reference('Integer'), reference('Proof')],
  },
  NextTransaction: {
    title: 'NextTransaction',
    description: 'A transaction, and what is behind its witness set',
    dataType: 'list',
    items: [reference('OpenedTransaction'), reference('SuppliedBytes')],
  },
  ChunkFlaw: {
    title: 'ChunkFlaw',
    anyOf: [
      variant('CountsDiffer', 0, [
        ['chunk', 'OpenedChunk'],
        ['other', 'OpenedChunk'],
      ]),
      variant('Misplaced', 1, [['chunk', 'OpenedChunk']]),
      variant('Missing', 2, [
        ['number', 'Integer'],
        ['proof', 'Proof'],
        ['holder', 'ChunkHolder'],
      ]),
      variant('NextElsewhere', 3, [
        ['chunk', 'ShownChunk'],
        ['next', 'OpenedChunk'],
      ]),
      variant('TransactionsLeft', 4, [
        ['chunk', 'ShownChunk'],
        ['record', 'OpenedRecord'],
      ]),
      variant('InventedTransaction', 5, [
        ['chunk', 'ShownChunk'],
        ['absent', 'AbsentPosition'],
      ]),
      variant('OtherTransaction', 6, [
        ['chunk', 'ShownChunk'],
        ['record', 'OpenedRecord'],
      ]),
      variant('StrangeRest', 7, [
        ['chunk', 'ShownChunk'],
        ['place', 'Integer'],
      ]),
      variant('Malformed', 8, [['chunk', 'ShownChunk']]),
      variant('TooShort', 9, [
        ['chunk', 'ShownChunk'],
        ['next', 'NextTransaction'],
      ]),
    ],
  },
} as const
