const memorySection = 5

/** Adds a maximum, in 64 KiB pages, to a module's memory: growth beyond traps (WebAssembly core, 5.5.8). */
export function limitMemory(module: Uint8Array, pages: number): Uint8Array {
  let offset = 8
  while (offset < module.length) {
    const id = module[offset]
    const [size, content] = readUnsigned(module, offset + 1)
    if (id === memorySection) return withMaximum(module, offset, content, content + size, pages)
    offset = content + size
  }
  throw new TypeError('The WebAssembly module has no memory section')
}

function withMaximum(
  module: Uint8Array,
  start: number,
  content: number,
  end: number,
  pages: number,
): Uint8Array {
  const [count, limits] = readUnsigned(module, content)
  const [minimum] = readUnsigned(module, limits + 1)
  if (count !== 1 || (module[limits] ?? 0) > 1)
    throw new TypeError('The WebAssembly memory is not of a known kind')
  const section = [1, 1, ...unsigned(minimum), ...unsigned(Math.max(minimum, pages))]
  return Buffer.concat([
    module.subarray(0, start),
    Uint8Array.of(memorySection, ...unsigned(section.length), ...section),
    module.subarray(end),
  ])
}

/** LEB128. */
function readUnsigned(bytes: Uint8Array, offset: number): [value: number, next: number] {
  let value = 0
  for (let shift = 0; ; shift += 7, offset++) {
    const byte = bytes[offset] ?? 0
    value += (byte & 0x7f) * 2 ** shift
    if (byte < 0x80) return [value, offset + 1]
  }
}

function unsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value % 0x80) | 0x80, ...unsigned(Math.floor(value / 0x80))]
}
