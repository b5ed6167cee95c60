import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { expect, test } from 'vitest'

test('is at most 10 kB, minified and gzipped, and imports nothing', async () => {
  const { outputFiles, metafile } = await build({
    entryPoints: [new URL('../src/index.ts', import.meta.url).pathname],
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    platform: 'browser',
    metafile: true,
  })
  const size = gzipSync(outputFiles[0]?.contents ?? '').length
  expect(size).toBeLessThanOrEqual(10_000)
  expect(Object.keys(metafile.inputs).filter((path) => path.includes('node_modules'))).toEqual([])
  expect(Object.values(metafile.outputs).flatMap(({ imports }) => imports)).toEqual([])
})
