// Makes the files of a release in a folder: the tarball, its bill of materials (CycloneDX), the provenance (in-toto
// statement with SLSA 1.0, in a signed DSSE envelope), and the SHA-256 of each.
//
//     node scripts/release.js FOLDER --key KEY.pem     KEY: an Ed25519 private key; `openssl genpkey -algorithm ed25519`
//     node scripts/release.js FOLDER --verify KEY.pub  checks the files of a release with the public key
import { execFileSync } from 'node:child_process'
import { createHash, createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const payloadType = 'application/vnd.in-toto+json'
const names = { bill: 'sbom.cdx.json', provenance: 'provenance.intoto.json', sums: 'SHA256SUMS' }

const [folder, mode, keyPath] = process.argv.slice(2)
if (folder === undefined || keyPath === undefined || !['--key', '--verify'].includes(mode)) {
  console.error('Usage: node scripts/release.js FOLDER --key KEY.pem | --verify KEY.pub')
  process.exit(2)
}
if (mode === '--key') make(resolve(folder), createPrivateKey(readFileSync(keyPath)))
else check(resolve(folder), createPublicKey(readFileSync(keyPath)))

/** Writes the files of a release of the last commit. */
function make(target, key) {
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('The key is no Ed25519 key.')
  const changes = git('status', '--porcelain')
  if (changes !== '') throw new Error(`A release is made of a commit. Not committed:\n${changes}`)
  mkdirSync(target, { recursive: true })
  const packed = npm('pack', '--json', '--pack-destination', target)
  const [{ filename }] = JSON.parse(packed.slice(packed.indexOf('[\n')))
  writeFileSync(join(target, names.bill), `${JSON.stringify(billOfMaterials(), null, 2)}\n`)
  const files = [filename, names.bill]
  const statement = statementOf(target, files)
  writeFileSync(join(target, names.provenance), `${JSON.stringify(envelopeOf(statement, key), null, 2)}\n`)
  const lines = [...files, names.provenance].map((name) => `${digest(join(target, name))}  ${name}\n`)
  writeFileSync(join(target, names.sums), lines.join(''))
  process.stdout.write(lines.join(''))
}

/** The runtime packages. `npm sbom --omit dev` also leaves out some of those (npm 11.19). */
function billOfMaterials() {
  const bill = JSON.parse(npm('sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'))
  const isDevelopment = ({ properties = [] }) =>
    properties.some(({ name, value }) => name === 'cdx:npm:package:development' && value === 'true')
  const left = new Set(bill.components.filter(isDevelopment).map((component) => component['bom-ref']))
  return {
    ...bill,
    components: bill.components.filter((component) => !isDevelopment(component)),
    dependencies: bill.dependencies
      .filter(({ ref }) => !left.has(ref))
      .map((row) => ({ ...row, dependsOn: row.dependsOn.filter((ref) => !left.has(ref)) })),
  }
}

/** https://in-toto.io/Statement/v1 with https://slsa.dev/provenance/v1. */
function statementOf(target, files) {
  const { name, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const commit = git('rev-parse', 'HEAD')
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: files.map((file) => ({ name: file, digest: { sha256: digest(join(target, file)) } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:dragoman:release:1',
        externalParameters: { package: name, version },
        resolvedDependencies: [
          { name: 'source', digest: { gitCommit: commit } },
          { name: 'package-lock.json', digest: { sha256: digest(join(root, 'package-lock.json')) } },
        ],
      },
      runDetails: {
        builder: { id: 'urn:dragoman:scripts/release.js', version: { node: process.versions.node } },
        metadata: { invocationId: `${commit}@${new Date().toISOString()}` },
      },
    },
  }
}

/** Dead Simple Signing Envelope 1.0. */
function envelopeOf(statement, key) {
  const payload = Buffer.from(JSON.stringify(statement))
  const signature = sign(null, preAuthentication(payload), key)
  return {
    payloadType,
    payload: payload.toString('base64'),
    signatures: [{ keyid: keyId(createPublicKey(key)), sig: signature.toString('base64') }],
  }
}

/** The bytes that a signature of DSSE covers. */
function preAuthentication(payload) {
  const head = `DSSEv1 ${payloadType.length} ${payloadType} ${payload.length} `
  return Buffer.concat([Buffer.from(head), payload])
}

/** Throws an error that names the first file that is not as it was released. */
function check(target, key) {
  const envelope = JSON.parse(readFileSync(join(target, names.provenance), 'utf8'))
  const payload = Buffer.from(envelope.payload, 'base64')
  const isSigned = envelope.signatures.some(({ sig }) =>
    verify(null, preAuthentication(payload), key, Buffer.from(sig, 'base64')),
  )
  if (envelope.payloadType !== payloadType || !isSigned)
    throw new Error('The key did not sign the provenance.')
  for (const { name, digest: stated } of JSON.parse(payload.toString()).subject) {
    if (digest(join(target, name)) !== stated.sha256)
      throw new Error(`${name} is not the file of the release.`)
    console.log(`ok ${name}`)
  }
}

function keyId(key) {
  return createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('hex')
}

function digest(path) {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}

function git(...args) {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
}

function npm(...args) {
  const options = { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }
  return execFileSync('npm', args, { ...options, stdio: ['ignore', 'pipe', 'ignore'] })
}
