// What must hold of every page, in a browser. Environment: PAGES, the folders that hold
// pages, separated by ':'; ROOT, the repository; SNIPPET and TRANSCRIPT, the tools.
'use strict';
const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { after, before, describe, it } = require('node:test');
const { HtmlValidate } = require('html-validate');
const { find, open } = require('./browser.js');
const { programOf } = require('./explorer.js');

const { ROOT, SNIPPET, TRANSCRIPT } = process.env;
const folders = process.env.PAGES.split(':');
const names = folders.flatMap((folder) =>
  fs.readdirSync(folder).filter((name) => name.endsWith('.html')));
const axe = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

const run = (command, ...args) =>
  execFileSync(command, args, { encoding: 'utf8', cwd: ROOT, maxBuffer: 1 << 26 });
const index = JSON.parse(run(SNIPPET, 'index', '--root', ROOT));

const validator = new HtmlValidate({
  root: true,
  extends: ['html-validate:recommended'],
  rules: {
    // how Pandoc writes what is valid all the same
    'void-style': 'off',
    'no-trailing-whitespace': 'off',
    'no-inline-style': 'off',
    'long-title': 'off',
    // SVG and MathML have the case that their own standards give
    'attr-case': ['error', { style: 'camelcase', ignoreForeign: true }],
    // a block that scrolls, and a box, are no sections of the page
    'prefer-native-element': ['error', { exclude: ['region', 'group', 'note'] }],
  },
});

// ---- inside the page

const unfold = () => {
  for (const details of document.querySelectorAll('details')) details.open = true;
};

/** What stands beyond the right edge of the page and does not scroll by itself. */
const cutOff = () => {
  const scrolls = (e) => e && (/(auto|scroll)/.test(getComputedStyle(e).overflowX) ||
    scrolls(e.parentElement));
  return [...document.body.querySelectorAll('*')]
    .filter((e) => e.getBoundingClientRect().right > document.documentElement.clientWidth + 1 &&
      !scrolls(e) && !e.closest('.status, .skip, annotation'))
    .map((e) => `${e.tagName}.${e.getAttribute('class')}: ${e.textContent.slice(0, 40)}`);
};

const words = () => document.querySelector('main').innerText
  .replaceAll(/\s+/g, ' ').replaceAll(/ ?\bCopy\b/g, '');

let browser;
before(async () => { browser = await open(folders); });
after(async () => { await browser.close(); });

for (const name of names) {
  const text = fs.readFileSync(find(folders, name), 'utf8');
  const isLesson = !['index.html', 'sample.html'].includes(name);

  describe(name, () => {
    let context, page, url;
    const events = [];

    async function visit(options) {
      const visited = await browser.newContext(
        { viewport: { width: 1280, height: 900 }, ...options });
      visited.setDefaultTimeout(20000);
      return visited;
    }
    before(async () => {
      context = await visit({ permissions: ['clipboard-read', 'clipboard-write'] });
      page = await context.newPage();
      page.on('console', (message) => events.push(`${message.type()}: ${message.text()}`));
      page.on('pageerror', (error) => events.push(`error: ${error.message}`));
      page.on('request', (request) => events.push(`request: ${request.url()}`));
      url = `${browser.origin}/${name}`;
      await page.goto(url);
      await page.evaluate(unfold);
    });
    after(async () => { await context?.close(); });

    it('is one file under 600 kB, without a comment of its source', () => {
      assert.ok(Buffer.byteLength(text) < 600_000, `${Buffer.byteLength(text)} bytes`);
      assert.doesNotMatch(text, /<!--/);
    });

    it('is valid HTML', async () => {
      const report = await validator.validateString(text);
      assert.deepEqual(report.results.flatMap((result) => result.messages)
        .map((m) => `${m.line}:${m.column} ${m.ruleId}: ${m.message}`), []);
    });

    for (const [colorScheme, width] of [['light', 360], ['dark', 1280]]) {
      it(`has no violation that axe finds, ${colorScheme}, ${width} px`, async () => {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 800 });
        await page.evaluate(axe);
        assert.deepEqual(await page.evaluate(async () =>
          (await globalThis.axe.run()).violations.flatMap(({ id, nodes }) =>
            nodes.map((node) => `${id}: ${node.target} ${node.failureSummary}`))), []);
      });
    }

    for (const width of [360, 768, 1280]) {
      it(`does not scroll sideways at ${width} px, and cuts nothing off`, async () => {
        await page.setViewportSize({ width, height: 740 });
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
        assert.deepEqual(await page.evaluate(cutOff), []);
      });
    }

    it('lets the keyboard scroll what is wide', async () => {
      await page.setViewportSize({ width: 360, height: 740 });
      assert.deepEqual(await page.evaluate(() => [...document.querySelectorAll('main *')]
        .filter((e) => /(auto|scroll)/.test(getComputedStyle(e).overflowX) &&
          e.scrollWidth > e.clientWidth && !(e.tabIndex === 0 && e.getAttribute('aria-label')))
        .map((e) => e.textContent.slice(0, 40))), []);
      for (const block of await page.locator('.scroller.code').all()) {
        if (!await block.evaluate((e) => e.scrollWidth > e.clientWidth)) continue;
        await block.focus();
        await page.keyboard.press('ArrowRight');
        await page.waitForFunction((e) => e.scrollLeft > 0, await block.elementHandle());
        break;
      }
    });

    it('resolves every link inside it and to its neighbours', async () => {
      const hrefs = await page.evaluate(() =>
        [...document.querySelectorAll('a')].map((a) => a.getAttribute('href')));
      const ids = new Set(await page.evaluate(() =>
        [...document.querySelectorAll('[id]')].map((e) => e.id)));
      const local = hrefs.filter((href) => !/^https?:/.test(href));
      assert.ok(local.length > 1);
      assert.deepEqual(local.filter((href) => href.startsWith('#')
        ? !ids.has(decodeURIComponent(href.slice(1))) : !find(folders, href)), []);
    });

    it('gives every figure an alternative of its own, and a plot its data', async () => {
      const figures = await page.evaluate(() => [...document.querySelectorAll('figure.picture')]
        .map((figure) => ({
          id: figure.id,
          images: [...figure.querySelectorAll('svg')].map((svg) => svg.getAttribute('role')),
          alternative: figure.querySelector('svg').getAttribute('aria-label'),
          caption: figure.querySelector('figcaption').textContent.trim(),
          isPlot: figure.querySelector('svg [id*="gnuplot"]') !== null,
          rows: figure.querySelectorAll('.data tbody tr').length,
        })));
      for (const figure of figures) {
        assert.deepEqual(figure.images, ['img'], figure.id);
        assert.match(figure.alternative, /^\p{Lu}.{20,}\.$/su, figure.id);
        assert.match(figure.caption, /^Figure\s\d+ ./, figure.id);
        if (figure.isPlot) assert.ok(figure.rows >= 3, figure.id);
      }
      assert.equal(new Set(figures.map((f) => f.alternative)).size, figures.length);
      if (isLesson) assert.ok(figures.filter((figure) => figure.isPlot).length >= 4);
    });

    it('copies the exact text of each region', async () => {
      for (const listing of await page.locator('figure.listing').all()) {
        await listing.getByRole('button', { name: /^Copy/ }).click();
        await listing.getByText('Copied', { exact: true }).waitFor();
        const copied = await page.evaluate(() => navigator.clipboard.readText());
        const address = await listing.getAttribute('data-address');
        if (name === 'sample.html') {
          assert.equal(copied, await listing.locator('pre').textContent() + '\n', address);
          continue;
        }
        assert.equal(copied, /^transcripts\/[^#]*\.md#/.test(address)
          ? run(TRANSCRIPT, 'get', '--root', ROOT, '--block', address)
          : run(SNIPPET, 'show', '--root', ROOT, address), address);
      }
    });

    it('opens in Compiler Explorer the program of each listing', async () => {
      const listings = await page.evaluate(() => [...document.querySelectorAll('figure.listing')]
        .map((e) => [e.dataset.address, e.querySelector('a.explorer')?.getAttribute('href')]));
      const others = await page.evaluate(() =>
        [...document.querySelectorAll('a.explorer:not(figcaption *)')]
          .map((a) => a.getAttribute('href')));
      if (name === 'sample.html') {
        assert.equal(listings.filter(([, link]) => link).length, 1);
        assert.deepEqual([...listings.flatMap(([, link]) => link ?? []), ...others]
          .map(programOf), ['int main() {}\n', 'int main() {}\n']);
        return;
      }
      for (const [address, link] of listings) {
        // a region of a snippet program is shown by that program
        const region = index.regions[address];
        const program = region?.program ?? region?.file.match(/^snippets\/.*/)?.[0];
        assert.equal(link !== undefined, program !== undefined, address);
        if (link) {
          assert.equal(programOf(link), fs.readFileSync(path.join(ROOT, program), 'utf8'), address);
        }
      }
      const programs = Object.keys(index.programs)
        .map((file) => fs.readFileSync(path.join(ROOT, file), 'utf8'));
      for (const link of others) assert.ok(programs.includes(programOf(link)), link.slice(0, 80));
    });

    it('shows the figures that the evidence holds', async () => {
      const shown = new Map(await page.evaluate(() => [...document.querySelectorAll('.pulled')]
        .map((e) => [`${e.dataset.address}\n${e.textContent}`, 0])));
      if (name === 'sample.html') return;
      for (const [pair] of shown) {
        const [address, value] = pair.split('\n');
        assert.equal(value, run(TRANSCRIPT, 'get', '--root', ROOT, address).trimEnd(), address);
      }
    });

    it('prints with nothing cut off and every answer open', async () => {
      await page.setViewportSize({ width: 660, height: 900 });
      await page.emulateMedia({ media: 'print' });
      await page.evaluate(() => {
        for (const details of document.querySelectorAll('details')) details.open = false;
      });
      assert.deepEqual(await page.evaluate(() => [...document.body.querySelectorAll('*')]
        .filter((e) => e.getBoundingClientRect().right > innerWidth + 1 &&
          !e.closest('.status, annotation'))
        .map((e) => `${e.tagName}.${e.getAttribute('class')}: ${e.textContent.slice(0, 40)}`)), []);
      assert.deepEqual(await page.evaluate(() => [...document.querySelectorAll('.answer > p')]
        .filter((e) => !e.checkVisibility())
        .map((e) => e.textContent.slice(0, 40))), []);
      await page.evaluate(unfold);
      await page.emulateMedia({ media: 'screen', colorScheme: 'light' });
    });

    it('is complete without JavaScript', async () => {
      const plain = await visit({ javaScriptEnabled: false });
      try {
        const still = await plain.newPage();
        await still.goto(url);
        assert.equal(await still.locator('button').count(), 0);
        for (const summary of await still.locator('summary').all()) await summary.click();
        assert.equal(await still.locator('details:not([open])').count(), 0);
        const read = (await still.locator('main').innerText()).replaceAll(/\s+/g, ' ');
        await page.waitForFunction(() => [...document.querySelectorAll('button')]
          .every((button) => button.textContent === 'Copy'));
        await page.setViewportSize({ width: 1280, height: 900 });
        assert.equal(read.replaceAll(/ ?\bCopy\b/g, ''),
          await page.evaluate(words));
      } finally {
        await plain.close();
      }
    });

    it('has asked for nothing else and reported no error', () => {
      assert.deepEqual(events, [`request: ${url}`]);
    });
  });
}
