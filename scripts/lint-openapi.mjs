// Lints docs/openapi.json and docs/arazzo.yaml with redocly (recommended) and spectral (spectral:oas,
// spectral:arazzo): neither may report anything. Needs the registry.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { withApiTools } from './api-tools.mjs'
import { root } from './prepare.mjs'

await withApiTools(['redocly', 'spectral'], async (run, folder) => {
  for (const [file, ruleset] of [
    ['docs/openapi.json', 'spectral:oas'],
    ['docs/arazzo.yaml', 'spectral:arazzo'],
  ]) {
    const document = join(root, file)
    await writeFile(join(folder, 'ruleset.json'), JSON.stringify({ extends: [ruleset] }))
    const spectral = ['--ruleset', 'ruleset.json', '--fail-severity', 'hint', '--fail-on-unmatched-globs']
    report(
      `redocly on ${file}`,
      await run('redocly', 'lint', '--extends', 'recommended', '--format', 'json', document),
    )
    report(`spectral on ${file}`, await run('spectral', 'lint', ...spectral, '-f', 'json', document))
  }
})

/** Warnings leave the exit code at 0, so the report is read as well. */
function report(name, { status, stdout, stderr }) {
  const found = /^\s*\[\s*\]|"totals":\s*\{\s*"errors":\s*0,\s*"warnings":\s*0/.test(stdout)
  if (status === 0 && found) return console.log(`${name}: nothing to report`)
  console.error(`${name}:\n${stdout}${stderr}`)
  process.exitCode = 1
}
