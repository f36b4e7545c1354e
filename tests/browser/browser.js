// A headless Chromium with a fresh profile, and the built pages on a local port, as a
// reader's browser would get them.
'use strict';
const fs = require('node:fs');
const http = require('node:http');
const path = require('node:path');
const { chromium } = require('playwright-core');

/** The file called `name` in the first of `folders` that has it, or undefined. */
function find(folders, name) {
  return folders.map((folder) => path.join(folder, name)).find((file) => fs.existsSync(file));
}

async function open(folders) {
  const server = http.createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost');
    const file = find(folders, path.basename(pathname));
    response.writeHead(file ? 200 : 404, { 'content-type': 'text/html; charset=utf-8' });
    response.end(file && fs.readFileSync(file));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
      '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    newContext: (options) => browser.newContext(options),
    async close() {
      await browser.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

module.exports = { find, open };
