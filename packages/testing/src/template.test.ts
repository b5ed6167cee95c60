import { mkdir, mkdtemp, readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { saveTemplate, templateOf } from './template.js'

test('removes unused templates, and nothing else in the folder', async () => {
  const templates = await mkdtemp(join(tmpdir(), 'ratatosk-templates-'))
  onTestFinished(() => rm(templates, { recursive: true }))
  const template = templateOf(templates, {})
  const unused = ['new-0d9c3f0a-6a53-4f0e-9e0c-0a4f5d2b7c11', '0.0.9-rc.1-0123456789abcdef']
  const others = ['2024-report', 'new-chapter', 'notes-0123456789abcdef', 'source']
  const past = new Date(Date.now() - 15 * 86_400_000)
  for (const name of [...unused, ...others, basename(templateOf(templates, { a: 'b' }))]) {
    await mkdir(join(templates, name))
    await writeFile(join(templates, name, 'file'), '')
    await utimes(join(templates, name), past, past)
  }
  await saveTemplate(join(templates, 'source'), templates, template)
  expect((await readdir(templates)).sort()).toEqual([basename(template), ...others].sort())
})

test('saves a template although an entry of the folder is gone when it is looked at', async () => {
  const templates = await mkdtemp(join(tmpdir(), 'ratatosk-templates-'))
  onTestFinished(() => rm(templates, { recursive: true }))
  const source = join(templates, 'source')
  await mkdir(source)
  // Listed, but without a status: what a rename by another process looks like at the wrong moment.
  await symlink(join(templates, 'gone'), join(templates, 'new-0d9c3f0a-6a53-4f0e-9e0c-0a4f5d2b7c11'))
  const template = templateOf(templates, {})
  await saveTemplate(source, templates, template)
  expect(await readdir(templates)).toContain(basename(template))
})
