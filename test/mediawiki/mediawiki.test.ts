import { test } from 'vitest'
import { content } from './content.ts'
import { isInstalled, startMediaWiki } from './peer.ts'
import { openRecorded, recording } from './recordings.ts'
import { describeWiki } from './suite.ts'

const packages = 'mediawiki php-cli php-sqlite3 php-mbstring php-xml php-intl php-apcu'
const isRecording = process.env.DRAGOMAN_RECORD_MEDIAWIKI === '1'

if (isInstalled()) {
  describeWiki('the wiki agent and a real MediaWiki', async () => {
    const peer = await startMediaWiki(content)
    return isRecording ? recording(peer) : peer
  })
} else {
  test.skip(`the wiki agent and a real MediaWiki: apt-get install --no-install-recommends ${packages}`)
}

if (!isRecording) describeWiki('the wiki agent and what a real MediaWiki has said', openRecorded)
