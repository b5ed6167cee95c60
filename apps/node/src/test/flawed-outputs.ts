import { crc32 } from 'node:zlib'
import { fromHex, toHex } from '@ratatosk/cbor'

// Of a test network, which its attributes name.
const content = fromHex(`83581c${'05'.repeat(28)}a102410100`)
const checksum = crc32(content).toString(16).padStart(8, '0')
const byron = `82d81858${content.length.toString(16)}${toHex(content)}1a${checksum}`

/** Outputs that no genesis may have, in hex. */
export const flawedOutputs = {
  'at a Byron address': `8258${(byron.length / 2).toString(16)}${byron}01`,
  'with a head that is not its shortest': `82581d60${'ab'.repeat(28)}1801`,
} as const
