import { reference, variant } from './reference.js'

/** Datums and redeemers of the bridge and of events. */
export const bridgeDefinitions = {
  Data: { title: 'Data', description: 'Any Plutus data' },
  OutputDatum: {
    title: 'OutputDatum',
    anyOf: [
      variant('NoDatum', 0, []),
      variant('DatumHash', 1, [['hash', 'Bytes']]),
      variant('InlineDatum', 2, [['data', 'Data']]),
    ],
  },
  BridgeDatum: {
    title: 'BridgeDatum',
    description: 'The datum of a deposit or a settlement; a reserve has none',
    anyOf: [
      variant('Deposit', 0, [
        ['id', 'Bytes'],
        ['time', 'Time'],
        ['address', 'Bytes'],
        ['datum', 'OutputDatum'],
        ['output_hash', 'Bytes'],
      ]),
      variant('Settlement', 1, [
        ['root', 'Root'],
        ['time', 'Time'],
      ]),
    ],
  },
  EventAction: { title: 'EventAction', anyOf: [variant('Event', 0, [])] },
  SettleAction: { title: 'SettleAction', anyOf: [variant('Settle', 0, [])] },
  OtherChild: {
    title: 'OtherChild',
    description: 'Nibble, hash and siblings of a child of a branch',
    dataType: 'list',
    items: [reference('Integer'), reference('Bytes'), reference('Bytes')],
  },
  DeletionStep: {
    title: 'DeletionStep',
    description: 'A step of a proof, or its last branch with another child that shows that two are left',
    anyOf: [
      reference('ProofStep'),
      variant('Branch', 0, [
        ['skip', 'Integer'],
        ['neighbors', 'Bytes'],
        ['other', 'OtherChild'],
      ]),
    ],
  },
  DeletionProof: { dataType: 'list', items: reference('DeletionStep') },
  OwedEntry: {
    title: 'OwedEntry',
    description: 'Key and output of layer 2, and the proof',
    dataType: 'list',
    items: [reference('Bytes'), reference('Bytes'), reference('DeletionProof')],
  },
  OwedEntries: { dataType: 'list', items: reference('OwedEntry') },
  BridgeSpend: {
    title: 'BridgeSpend',
    anyOf: [
      variant('Follow', 0, [['leader', 'Integer']]),
      variant('Pay', 1, [['entries', 'OwedEntries']]),
      variant('Tidy', 2, []),
    ],
  },
}
