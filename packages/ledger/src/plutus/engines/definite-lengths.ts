import { CborReader, Major } from '../../cbor/reader.js'
import { CborWriter } from '../../cbor/writer.js'

/** One CBOR item with every array, map and string in it in the definite form. What byte strings hold is left as it is. */
export function withDefiniteLengths(item: Uint8Array): Uint8Array {
  const writer = new CborWriter(item.length)
  copyItem(new CborReader(item), writer)
  return writer.toBytes()
}

function copyItem(reader: CborReader, writer: CborWriter): void {
  const start = reader.position
  const major = reader.peekMajor()
  const indefinite = (reader.peek() & 0x1f) === 0x1f
  if (major === Major.array || major === Major.map) {
    const count = major === Major.array ? reader.readArray() : reader.readMap()
    const content = new CborWriter()
    let items = 0
    for (; reader.hasNext(count, items); items++) {
      copyItem(reader, content)
      if (major === Major.map) copyItem(reader, content)
    }
    if (major === Major.array) writer.array(items)
    else writer.map(items)
    writer.raw(content.toBytes())
  } else if (major === Major.tag) {
    writer.tag(reader.readTag())
    copyItem(reader, writer)
  } else if (indefinite && major === Major.bytes) {
    writer.bytes(Buffer.concat(chunks(reader, () => reader.readBytes())))
  } else if (indefinite && major === Major.text) {
    writer.text(chunks(reader, () => reader.readText()).join(''))
  } else {
    reader.skip()
    writer.raw(reader.since(start))
  }
}

function chunks<Chunk>(reader: CborReader, read: () => Chunk): Chunk[] {
  const all: Chunk[] = []
  reader.position++
  while (reader.hasNext(-1, all.length)) all.push(read())
  return all
}
