import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { limitMemory } from './aiken.js'

const header = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]

test('adds a maximum to a memory without one, and keeps the following sections', () => {
  const module = Uint8Array.of(...header, 5, 3, 1, 0, 17, 10, 1, 0)
  expect([...limitMemory(module, 4096)]).toEqual([...header, 5, 5, 1, 1, 17, 0x80, 0x20, 10, 1, 0])
})

test('replaces a maximum, but never goes below the initial size', () => {
  const module = Uint8Array.of(...header, 1, 1, 0, 5, 4, 1, 1, 17, 20)
  expect([...limitMemory(module, 2)]).toEqual([...header, 1, 1, 0, 5, 4, 1, 1, 17, 17])
})

test("finds the memory of the engine's module", () => {
  const entry = createRequire(import.meta.url).resolve('@lucid-evolution/uplc')
  const module = readFileSync(join(dirname(entry), 'uplc_tx_bg.wasm'))
  expect(limitMemory(module, 4096).length).toBeGreaterThan(module.length)
})

test('refuses a module of another kind', () => {
  expect(() => limitMemory(Uint8Array.of(...header, 1, 1, 0), 16)).toThrow('no memory section')
  expect(() => limitMemory(Uint8Array.of(...header, 5, 3, 1, 2, 17), 16)).toThrow('not of a known kind')
})
