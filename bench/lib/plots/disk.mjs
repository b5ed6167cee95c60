// The disk space of a transaction.
import { round } from '../figures.mjs'
import { source, table } from './markdown.mjs'

export const disk = {
  needs: ['disk'],

  write({ disk: { places, transactionBytes, outputBytes, blocks, blockSize, outputs, machine } }) {
    const sum = places.reduce((total, { bytes }) => total + bytes, 0)
    return [
      table([
        ['', 'bytes per transaction'],
        ...places.map(({ place, bytes }) => [place, round(bytes)]),
        ['**sum**', `**${round(sum)}**`],
      ]),
      `The payments of this run leave the ledger as large as it is. An unspent output takes ` +
        `${round(outputBytes)} B of \`mempool_ledger\` and its indexes.`,
      source(
        { machine },
        `${round(blocks)} blocks of ${round(blockSize)} transactions of ` +
          `${round(transactionBytes)} B over ${round(outputs)} outputs`,
      ),
    ].join('\n\n')
  },
}
