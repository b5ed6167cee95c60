import { reference, variant } from './reference.js'

export const summonsDefinitions = {
  Question: {
    title: 'Question',
    description:
      'What a header commits to; `root` is the index of a field of the header. The key of a chunk is its ' +
      'number; that of a node is a path and the number of its nibbles above the node, below which `Entry` ' +
      'is about this path',
    anyOf: ['Chunk', 'Subtree', 'Leaf', 'Entry'].map((title, index) =>
      variant(title, index, [
        ['header_hash', 'Hash'],
        ['root', 'Integer'],
        ['key', 'Bytes'],
        ['hash', 'Root'],
        ['deadline', 'Time'],
        ['refund', 'Hash'],
      ]),
    ),
  },
  MapNode: {
    title: 'MapNode',
    anyOf: [
      variant('Branch', 0, [
        ['prefix', 'Bytes'],
        ['children', 'Bytes'],
      ]),
      variant('Leaf', 1, [
        ['path', 'Bytes'],
        ['value', 'Bytes'],
      ]),
      variant('None', 2, []),
    ],
  },
  MapNodes: { dataType: 'list', items: reference('MapNode') },
  NodeAnswer: {
    title: 'NodeAnswer',
    anyOf: [
      variant('Branch', 0, [
        ['prefix', 'Bytes'],
        ['children', 'Bytes'],
        ['nodes', 'MapNodes'],
      ]),
      variant('Leaf', 1, [
        ['path', 'Bytes'],
        ['value', 'Bytes'],
        ['steps', 'ProofSteps'],
      ]),
      variant('None', 2, [['steps', 'ProofSteps']]),
    ],
  },
  ChunkAnswer: {
    title: 'ChunkAnswer',
    anyOf: [
      variant('Shown', 0, [
        ['entry', 'Bytes'],
        ['proof', 'ProofSteps'],
        ['parts', 'SuppliedParts'],
      ]),
      variant('Absent', 1, [['proof', 'ProofSteps']]),
    ],
  },
  Ways: { dataType: 'list', items: reference('ProofSteps') },
  SuppliedParts: { dataType: 'list', items: reference('SuppliedBytes') },
  QuestionAnswer: {
    title: 'QuestionAnswer',
    anyOf: [reference('ChunkAnswer'), reference('NodeAnswer')],
  },
  SummonsAction: {
    title: 'SummonsAction',
    anyOf: [
      variant('Ask', 0, [
        ['header', 'Header'],
        ['ways', 'Ways'],
      ]),
      variant('Answer', 1, [
        ['refund', 'Integer'],
        ['answer', 'QuestionAnswer'],
      ]),
      variant('Expire', 2, [['refund', 'Integer']]),
      variant('Reclaim', 3, [['refund', 'Integer']]),
    ],
  },
}
